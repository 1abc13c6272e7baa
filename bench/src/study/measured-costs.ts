/**
 * What policies cost that are not cheap, as `gw explain` shows it, from a run of `gw bench run policies`:
 *
 *     node bench/dist/study/measured-costs.js --summary results/DIR/summary.json > packages/policies/src/measured-costs.ts
 */
import { catalog } from '@sluice/policies'
import { isValid } from '../report/figures.js'
import { readSummary } from '../report/read-summary.js'
import { policyPair } from '../suite/policies.js'
import { optionsOf } from './options.js'

const KB = 1024

const { summary: file } = optionsOf({ summary: null })
if (file === null) {
  console.error('--summary is missing; name the summary.json of a run of the suite policies')
  process.exit(2)
}
const summary = readSummary(file)
const results = new Map(summary.points.filter(isValid).map((point) => [point.scenario, point]))
// What is cheap is lost in the differences between repetitions.
const computing = [...catalog.values()].filter(({ cost }) => cost === 'cpu')
const costs = computing.flatMap(({ name }) => {
  const pair = policyPair(name, catalog)
  const base = results.get(pair?.base.id ?? '')
  const withPolicy = results.get(pair?.withPolicy.id ?? '')
  return base === undefined || withPolicy === undefined ? [] : [{ name, base, withPolicy }]
})
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
  .toSorted((one, other) => one.name.localeCompare(other.name))
  .map(entry)
  .join('\n')}
])`)

function entry({ name, base, withPolicy }: (typeof costs)[number]): string {
  const request = withPolicy.bodyBytes === 0 ? 'GET' : `POST ${withPolicy.bodyBytes / KB} KB`
  const [without, including] = [base.cpuMicrosPerRequest.mean, withPolicy.cpuMicrosPerRequest.mean]
  const added = Math.max(0, including - without).toFixed(1)
  return `  ['${name}', { addedMicros: ${added}, requestMicros: ${without.toFixed(1)}, request: '${request}' }],`
}
