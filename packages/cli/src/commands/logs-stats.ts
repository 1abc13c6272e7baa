import { type GroupStats, HISTOGRAM_BOUNDS_MS, type StatsKey, type TrafficStats } from '@sluice/logger'
import { untilSignal } from '../input/until-signal.js'
import { isTable, print, printTable, printValue, say } from '../output/output.js'
import { type Cell, minor, tableLines } from '../output/table.js'
import { countText, durationText } from '../output/text.js'
import { openSource, sourceFailure } from './log-source.js'
import { filterOf, type LogOptions } from './logs.js'

interface StatsCommandOptions extends LogOptions {
  readonly by: StatsKey
  readonly top: number
}

/** Width of the longest bar of a histogram in characters. */
const BAR_WIDTH = 40
const HEADINGS = [
  'REQUESTS',
  'PER S',
  'ERRORS',
  'BLOCKED',
  'P50 MS',
  minor('P90 MS', 1),
  'P99 MS',
  minor('MAX MS', 2),
]

/** Prints statistics of the matching requests. */
export async function logStats(options: StatsCommandOptions): Promise<void> {
  const { by, top, output } = options
  const filter = filterOf(options)
  const nowMs = Date.now()
  const source = await openSource(options)
  try {
    const stats = await source.stats({ filter, by, top, signal: untilSignal().signal })
    const seconds = windowSeconds(stats, filter, nowMs)
    if (isTable(output)) printStats(stats, by, seconds)
    else await printValue(withRates(stats, by, seconds), output)
    if (source.skipped > 0) say(`skipped ${countText(source.skipped, 'damaged record')}`)
  } catch (error) {
    throw sourceFailure(error)
  } finally {
    await source.close()
  }
}

/** Returns the time over which requests are counted: the time range, where open the time of the requests. */
function windowSeconds(
  { firstMs, lastMs }: TrafficStats,
  { sinceMs, untilMs }: { readonly sinceMs: number | null; readonly untilMs: number | null },
  nowMs: number,
): number {
  const from = sinceMs ?? firstMs ?? nowMs
  const to = Math.min(untilMs ?? (sinceMs === null ? (lastMs ?? nowMs) : nowMs), nowMs)
  return Math.max(1, (to - from) / 1000)
}

function withRates(
  { firstMs, lastMs, total, groups, others, histogram }: TrafficStats,
  by: StatsKey,
  seconds: number,
) {
  const rated = <G extends GroupStats>(group: G) => ({ ...group, perSecond: perSecond(group, seconds) })
  const instant = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())
  return {
    first: instant(firstMs),
    last: instant(lastMs),
    seconds,
    total: rated(total),
    by,
    groups: groups.map(rated),
    others,
    histogram: histogram.map((count, i) => ({ belowMs: HISTOGRAM_BOUNDS_MS[i] ?? null, count })),
  }
}

function printStats({ total, groups, others, histogram }: TrafficStats, by: StatsKey, seconds: number): void {
  if (total.count === 0) {
    say('no matching records')
    return
  }
  const rows = groups.map(({ key, ...group }) => [key, ...figureCells(group, seconds)])
  printTable([by.toUpperCase(), ...HEADINGS], [...rows, ['total', ...figureCells(total, seconds)]])
  if (others > 0) print(`${countText(others, 'request')} in other groups; --top shows more groups`)
  print('', ...histogramLines(histogram))
}

function figureCells(group: GroupStats, seconds: number): Cell[] {
  const { count, errors, blocked, p50, p90, p99, max } = group
  return [count, perSecond(group, seconds), errors, blocked, p50 ?? 0, p90 ?? 0, p99 ?? 0, max ?? 0]
}

function perSecond({ count }: GroupStats, seconds: number): number {
  return Number((count / seconds).toPrecision(3))
}

/** Returns one bar per duration, without empty ones at both ends. */
function histogramLines(histogram: readonly number[]): string[] {
  const most = Math.max(...histogram)
  const rows = histogram.map((count, i) => {
    const bound = HISTOGRAM_BOUNDS_MS[i]
    const name = bound === undefined ? 'longer' : `< ${durationText(bound)}`
    return [name, count, '█'.repeat(Math.ceil((count / most) * BAR_WIDTH))]
  })
  const first = histogram.findIndex((count) => count > 0)
  const last = histogram.findLastIndex((count) => count > 0)
  return tableLines(['DURATION', 'REQUESTS', ''], rows.slice(first, last + 1))
}
