import { formatSize } from '@sluice/core'
import type { HostFacts, Point } from '../../model/summary.js'
import { CORE_SCORE_HEADING, coreScoreText } from '../core-score.js'
import { hasCost } from '../cost.js'
import {
  ceilingText,
  countText,
  errorText,
  generatorText,
  isValid,
  kindText,
  microsText,
  percentileOf,
  shareText,
  threeDigits,
} from '../figures.js'
import { escaped } from '../markup.js'

const STEPS = [50, 90, 99, 99.9]
const LOAD = [
  ...['requests/s', '±', 'ceiling', 'generator'],
  ...STEPS.map((step) => `P${step}`),
  ...['memory', CORE_SCORE_HEADING],
]
const COST = ['CPU µs', 'busy']
const FIGURES = [...LOAD, ...COST]

/** Every point; those that are no result say why and stand apart. */
export function pointsHtml(points: readonly Point[], host: HostFacts): string {
  const names = ['scenario', 'contestant', 'conn.', 'load'].map((name) => `<th scope="col">${name}</th>`)
  const figures = FIGURES.map((name) => `<th scope="col" class="n">${name}</th>`)
  const head = `<tr>${names.join('')}${figures.join('')}<th scope="col">errors</th></tr>`
  const rows = points.map((point) => (isValid(point) ? resultRow(point, host) : invalidRow(point)))
  return `<div class="wide"><table aria-label="All points"><thead>${head}</thead><tbody>${rows.join('\n')}</tbody></table></div>`
}

function resultRow(point: Point, host: HostFacts): string {
  const { perSecond, latency, rssBytes } = point
  const latencies = STEPS.map((step) => percentileOf(latency, step))
  const figures = [
    countText(perSecond.mean),
    `${((100 * perSecond.stdev) / perSecond.mean).toFixed(1)} %`,
    ceilingText(point),
    generatorText(point),
    ...latencies.map((micros) =>
      point.kind === 'saturation' ? `(${microsText(micros)})` : microsText(micros),
    ),
    rssBytes === 0 ? '–' : formatSize(rssBytes),
    coreScoreText(point, host),
  ]
  const cells = figures.map((text) => `<td class="n">${escaped(text)}</td>`)
  return `<tr>${placeCells(point)}${cells.join('')}${costCells(point)}<td>${escaped(errorText(point))}</td></tr>`
}

/** CPU time of a request, and how busy who needed it was. */
function costCells(point: Point): string {
  const { cpuMicrosPerRequest, busyShare, sharesCores } = point
  const micros = hasCost(point) ? threeDigits(cpuMicrosPerRequest.mean) : '–'
  const busy = `${shareText(busyShare)}${sharesCores === true ? ', cores shared' : ''}`
  return [micros, busy].map((text) => `<td class="n">${escaped(text)}</td>`).join('')
}

/** What it measured is left out, but for CPU time where that is a result: a figure in a table is taken for a result, whatever stands beside it. It is in `points.csv`. */
function invalidRow(point: Point): string {
  const [word, columns] = hasCost(point) ? ['INVALID but for CPU', LOAD] : ['INVALID', FIGURES]
  const reasons = `<td class="reason" colspan="${columns.length}"><strong>${word}</strong> ${escaped(point.invalid.join('; '))}</td>`
  const cost = hasCost(point) ? costCells(point) : ''
  return `<tr class="invalid">${placeCells(point)}${reasons}${cost}<td>${escaped(errorText(point))}</td></tr>`
}

function placeCells(point: Point): string {
  const rest = [point.contestant, countText(point.connections), loadText(point)]
  return `<th scope="row">${escaped(point.title)}</th>${rest.map((text) => `<td>${escaped(text)}</td>`).join('')}`
}

function loadText(point: Point): string {
  if (point.kind === 'saturation' || point.sloMicros !== undefined) return kindText(point)
  return `at ${countText(point.targetPerSecond ?? 0)}/s`
}
