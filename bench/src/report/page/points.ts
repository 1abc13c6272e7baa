import { formatSize } from '@sluice/core'
import type { HostFacts, Point } from '../../model/summary.js'
import { CORE_SCORE_HEADING, coreScoreText } from '../core-score.js'
import {
  ceilingText,
  countText,
  errorText,
  isValid,
  kindText,
  microsText,
  percentileOf,
  shareText,
  threeDigits,
} from '../figures.js'
import { escaped } from '../markup.js'

const STEPS = [50, 90, 99, 99.9]
const FIGURES = [
  ...['requests/s', '±', 'ceiling', 'CPU µs'],
  ...STEPS.map((step) => `P${step}`),
  ...['memory', 'busy', CORE_SCORE_HEADING],
]

/** Every point; those that are no result say why and stand apart. */
export function pointsHtml(points: readonly Point[], host: HostFacts): string {
  const names = ['scenario', 'contestant', 'conn.', 'load'].map((name) => `<th scope="col">${name}</th>`)
  const figures = FIGURES.map((name) => `<th scope="col" class="n">${name}</th>`)
  const head = `<tr>${names.join('')}${figures.join('')}<th scope="col">errors</th></tr>`
  const rows = points.map((point) => (isValid(point) ? resultRow(point, host) : invalidRow(point)))
  return `<div class="wide"><table aria-label="All points"><thead>${head}</thead><tbody>${rows.join('\n')}</tbody></table></div>`
}

function resultRow(point: Point, host: HostFacts): string {
  const { perSecond, cpuMicrosPerRequest, latency, rssBytes, busyShare } = point
  const latencies = STEPS.map((step) => percentileOf(latency, step))
  const figures = [
    countText(perSecond.mean),
    `${((100 * perSecond.stdev) / perSecond.mean).toFixed(1)} %`,
    ceilingText(point),
    threeDigits(cpuMicrosPerRequest.mean),
    ...latencies.map((micros) =>
      point.kind === 'saturation' ? `(${microsText(micros)})` : microsText(micros),
    ),
    formatSize(rssBytes),
    shareText(busyShare),
    coreScoreText(point, host),
  ]
  const cells = figures.map((text) => `<td class="n">${escaped(text)}</td>`)
  return `<tr>${placeCells(point)}${cells.join('')}<td>${escaped(errorText(point))}</td></tr>`
}

/** What it measured is left out: a figure in a table is taken for a result, whatever stands beside it. It is in `points.csv`. */
function invalidRow(point: Point): string {
  const reasons = `<td class="reason" colspan="${FIGURES.length}"><strong>INVALID</strong> ${escaped(point.invalid.join('; '))}</td>`
  return `<tr class="invalid">${placeCells(point)}${reasons}<td>${escaped(errorText(point))}</td></tr>`
}

function placeCells(point: Point): string {
  const rest = [point.contestant, countText(point.connections), loadText(point)]
  return `<th scope="row">${escaped(point.title)}</th>${rest.map((text) => `<td>${escaped(text)}</td>`).join('')}`
}

function loadText(point: Point): string {
  if (point.kind === 'saturation' || point.sloMicros !== undefined) return kindText(point)
  return `at ${countText(point.targetPerSecond ?? 0)}/s`
}
