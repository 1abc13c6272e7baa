import { formatSize } from '@sluice/core'
import { countText, significant } from '../report/figures.js'
import type { CapacityAnswer, CapacitySize } from './capacity.js'
import type { CostRow } from './cost-table.js'

/** An answer for a terminal: the size, the guide from load to tier, what things cost, and what it rests on. */
export function capacityLines(answer: Omit<CapacityAnswer, 'lines'>): string[] {
  const { wish, size, missing, usedPoints, notes } = answer
  if (size === null)
    return ['no answer: this has to be measured first', ...missing.map((what) => `  ${what}`)]
  const body = wish.bodyBytes === 0 ? '' : ` of ${formatSize(wish.bodyBytes)}`
  const log = wish.log === 'none' ? 'traffic log off' : 'traffic log in Elasticsearch'
  const pods = size.replicas === 1 ? size.tier : `${size.tier} × ${size.replicas}`
  return [
    `${countText(wish.perSecond)} ${wish.method}${body} a second, ${log}: ${pods}`,
    `${significant(size.cores)} cores with headroom at ${significant(size.microsPerRequest)} µs a request`,
    ...size.shares.map(({ what, micros }) => `  ${significant(micros)} µs ${what}`),
    autoscalerLine(size),
    '',
    ...guideLines(size),
    '',
    ...costLines(answer),
    memoryLine(answer),
    '',
    ...usedPoints.map((name) => `from ${name}`),
    ...notes.map((note) => `note: ${note}`),
  ]
}

function autoscalerLine({ autoscaler }: CapacitySize): string {
  const { averageUtilization, minReplicas, maxReplicas } = autoscaler
  return `autoscaler: ${minReplicas} to ${maxReplicas} pods, more from ${averageUtilization} % of their CPU on`
}

function guideLines({ guide }: CapacitySize): string[] {
  const rows = guide.map(({ tier, cores, memoryBytes, upToPerSecond, isMeasured }, i) => {
    const limit = countText(upToPerSecond)
    const range = i === 0 ? `< ${limit}` : `${countText(guide[i - 1]!.upToPerSecond)} to ${limit}`
    const how = isMeasured ? '' : ', extrapolated'
    return `${range} a second: ${tier} (${cores} ${cores === 1 ? 'core' : 'cores'}, ${formatSize(memoryBytes)}${how})`
  })
  const largest = guide.at(-1)!
  return [...rows, `> ${countText(largest.upToPerSecond)} a second: ${largest.tier} × N`]
}

function costLines({ costs: { requests, policies } }: Omit<CapacityAnswer, 'lines'>): string[] {
  const listed = (rows: readonly CostRow[]): string =>
    rows.map(({ what, times }) => `${what} ${times?.toFixed(2) ?? '–'} ×`).join(', ')
  return [
    ...(requests[0]?.times === 1
      ? [`requests, beside ${listed(requests.slice(0, 1))}: ${listed(requests.slice(1))}`]
      : []),
    ...(policies.length > 0 ? [`policies, over the same call without them: ${listed(policies)}`] : []),
  ]
}

function memoryLine({ memory }: Omit<CapacityAnswer, 'lines'>): string {
  if (memory === null)
    return 'memory of connections: not told by these runs, which have one number of them each'
  const { perThousandBytes, baseBytes, seen } = memory
  const range = `${countText(seen.from)} to ${countText(seen.to)} connections`
  return `memory: ${formatSize(Math.round(baseBytes))} and ${formatSize(Math.round(perThousandBytes))} for each 1,000 connections under load (${seen.title}, ${range})`
}
