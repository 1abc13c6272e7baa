import { formatSize } from '@sluice/core'
import { countText, significant } from '../report/figures.js'
import type { CapacityAnswer, CapacitySize } from './capacity.js'

/** An answer for a terminal: the size, the guide from load to tier, and what it rests on. */
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
    '',
    ...guideLines(size),
    '',
    ...usedPoints.map((name) => `from ${name}`),
    ...notes.map((note) => `note: ${note}`),
  ]
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
