/**
 * What policies cost that are not cheap, as `gw explain` shows it, from runs of `gw bench run policies`:
 *
 *     node bench/dist/measured-costs-program.js results/DIR/summary.json … > packages/policies/src/measured-costs.ts
 *
 * Of a policy that has no result in the first run the next one that has counts.
 */
import { formatSize } from '@sluice/core'
import { catalog } from '@sluice/policies'
import { type PolicyCost, policyCosts } from './report/cost.js'
import { readSummary } from './report/results.js'

const summaries = process.argv.slice(2).map(readSummary)
const [first] = summaries
if (first === undefined || summaries.some(({ host }) => host.cpuModel !== first.host.cpuModel)) {
  console.error('name summary.json of runs of the suite policies, all of one machine')
  process.exit(2)
}
const costs = new Map<string, PolicyCost>()
// What is cheap is lost in the differences between repetitions.
for (const cost of summaries.flatMap(({ points }) => policyCosts(points)))
  if (catalog.get(cost.policy)?.cost === 'cpu' && !costs.has(cost.policy)) costs.set(cost.policy, cost)
console.log(`import type { MeasuredCost } from '@sluice/core'

/** Written by bench/src/measured-costs-program.ts from a run of ${first.endedAt.slice(0, 10)}, ${first.host.cpuModel}. */
export const MEASURED_COSTS: ReadonlyMap<string, MeasuredCost> = new Map([
${[...costs.values()]
  .toSorted((one, other) => one.policy.localeCompare(other.policy))
  .map(entry)
  .join('\n')}
])`)

function entry({ policy, addedMicros, base, withPolicy }: PolicyCost): string {
  const request = withPolicy.bodyBytes === 0 ? 'GET' : `POST ${formatSize(withPolicy.bodyBytes)}`
  const added = Math.max(0, addedMicros).toFixed(1)
  const requestMicros = base.cpuMicrosPerRequest.mean.toFixed(1)
  return `  ['${policy}', { addedMicros: ${added}, requestMicros: ${requestMicros}, request: '${request}' }],`
}
