/**
 * What policies cost that are not cheap, as `gw explain` shows it, from a run of `gw bench run policies`:
 *
 *     node bench/dist/study/measured-costs.js --summary results/DIR/summary.json > packages/policies/src/measured-costs.ts
 *
 * Of a policy that has no result there, `--more` names a run that has: what it added is told beside that run's own call.
 */
import { catalog } from '@sluice/policies'
import type { Summary } from '../model/summary.js'
import { type PolicyCost, policyCosts } from '../report/policy-cost.js'
import { readSummary } from '../report/read-summary.js'
import { optionsOf } from './options.js'

const KB = 1024

const { summary: file, more } = optionsOf({ summary: null, more: null })
if (file === null) {
  console.error('--summary is missing; name the summary.json of a run of the suite policies')
  process.exit(2)
}
const summary = readSummary(file)
// What is cheap is lost in the differences between repetitions.
const first = computingCosts(summary)
const second = more === null ? null : readSummary(more)
if (second !== null && second.host.cpuModel !== summary.host.cpuModel) {
  console.error(`${more} is from another machine than ${file}`)
  process.exit(2)
}
const others = second === null ? [] : computingCosts(second)
const costs = [...first, ...others.filter(({ policy }) => first.every((one) => one.policy !== policy))]
if (costs.length === 0) {
  console.error(
    `${file} has no policy that computes beside the same request without it; run the suite policies`,
  )
  process.exit(1)
}
console.log(`import type { MeasuredCost } from '@sluice/core'

/** Written by bench/src/study/measured-costs.ts from a run of ${summary.endedAt.slice(0, 10)}, ${summary.host.cpuModel}. */
export const MEASURED_COSTS: ReadonlyMap<string, MeasuredCost> = new Map([
${costs
  .toSorted((one, other) => one.policy.localeCompare(other.policy))
  .map(entry)
  .join('\n')}
])`)

function computingCosts({ points }: Summary): PolicyCost[] {
  return policyCosts(points).filter(({ policy }) => catalog.get(policy)?.cost === 'cpu')
}

function entry({ policy, addedMicros, base, withPolicy }: PolicyCost): string {
  const request = withPolicy.bodyBytes === 0 ? 'GET' : `POST ${withPolicy.bodyBytes / KB} KB`
  const added = Math.max(0, addedMicros).toFixed(1)
  const requestMicros = base.cpuMicrosPerRequest.mean.toFixed(1)
  return `  ['${policy}', { addedMicros: ${added}, requestMicros: ${requestMicros}, request: '${request}' }],`
}
