import type { HostFacts, Point } from '../model/summary.js'
import { CORE_SCORE_HEADING, coreScoreText } from './core-score.js'
import { costText, hasCost } from './cost.js'
import {
  ceilingText,
  countText,
  errorText,
  generatorText,
  isValid,
  kindText,
  microsText,
  percentileOf,
} from './figures.js'

const HEADINGS = [
  'scenario',
  'contestant',
  'connections',
  'kind',
  'requests/s',
  '±',
  'CPU µs',
  'P50',
  'P99',
  'errors',
  'result',
]

/** Points for a terminal, under a row of headings. A point that is no result shows its reasons and no figures but its CPU time where that is one. */
export function pointTable(points: readonly Point[]): string[][] {
  return [HEADINGS, ...points.map(row)]
}

function row(point: Point): string[] {
  const place = [point.title, point.contestant, countText(point.connections), kindText(point)]
  if (!isValid(point)) {
    const [cost, word] = hasCost(point) ? [costText(point), 'INVALID but for CPU'] : ['', 'INVALID']
    return [...place, '', '', cost, '', '', errorText(point), `${word}: ${point.invalid.join('; ')}`]
  }
  const spread = point.perSecond.mean === 0 ? 0 : point.perSecond.stdev / point.perSecond.mean
  return [
    ...place,
    countText(point.perSecond.mean),
    `${(100 * spread).toFixed(1)} %`,
    costText(point),
    latencyText(point, 50),
    latencyText(point, 99),
    errorText(point),
    'ok',
  ]
}

/**
 * The same for a report, which has room for the proof behind the throughput: how much load there could have been
 * (`ceiling`), and how busy who made it was (`generator`). At the end stands the throughput over the score of the cores.
 */
export function wholePointTable(points: readonly Point[], host: HostFacts): string[][] {
  const at = HEADINGS.indexOf('±') + 1
  const ofValid = (text: (point: Point) => string): string[] =>
    points.map((point) => (isValid(point) ? text(point) : ''))
  const ceilings = ['ceiling', ...ofValid(ceilingText)]
  const generators = ['generator', ...points.map(generatorText)]
  const scores = [CORE_SCORE_HEADING, ...ofValid((point) => coreScoreText(point, host))]
  return pointTable(points).map((line, i) => [
    ...line.toSpliced(at, 0, ceilings[i]!, generators[i]!),
    scores[i]!,
  ])
}

/** Latency at overload is in brackets: it says how long the line was, not how fast the contestant is. */
function latencyText(point: Point, percentile: number): string {
  const text = microsText(percentileOf(point.latency, percentile))
  return point.kind === 'saturation' && text !== '–' ? `(${text})` : text
}
