import { formatSize, visibleText } from '@sluice/core'
import type { AnswerPart } from '../admin/answer-part.js'
import { type Cell, tableLines } from '../output/table.js'
import { ageText, countText } from '../output/text.js'
import type { TrafficRow } from './traffic.js'
import type { ViewState } from './view-state.js'

/** Data of one refresh. */
export interface TopData {
  readonly origin: string
  readonly status: AnswerPart
  readonly total: TrafficRow
  /** Rows of the list, filtered and sorted. */
  readonly rows: readonly TrafficRow[]
  /** The route in detail, or null. */
  readonly detail: RouteDetail | null
  /** Reason why the figures are old; empty if they are current. */
  readonly problem: string
}

/** Policies and targets of a route. */
export interface RouteDetail {
  readonly row: TrafficRow
  readonly goesTo: string
  readonly policies: readonly Cell[][]
  readonly targets: readonly Cell[][]
}

/** Size of the terminal in characters. */
export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

/** Width of columns with numbers that may be missing. */
const NUMBER_WIDTH = 8
/** Headings of the list. */
export const ROUTE_HEADINGS = [
  'ROUTE',
  ...['REQ/S', '5XX/S', '4XX/S', 'P50 MS', 'P90 MS', 'P99 MS'].map(right),
  'TOTAL',
]
/** Headings of a route's policies. */
const POLICY_HEADINGS = ['POLICY', 'USE', 'RUNS', 'AVG µs', 'WHEN']
/** Headings of a route's targets. */
const TARGET_HEADINGS = ['TARGET', 'STATE', 'ACTIVE', 'ATTEMPTS', 'FAILURES']
const KEYS_OF_LIST = 'up/down select · enter open · s sort · / filter · q quit'
const KEYS_OF_ROUTE = 'esc back · q quit'
const BOLD = '\u001b[1m'
const INVERSE = '\u001b[7m'
const RESET = '\u001b[0m'

/** Returns the lines of the screen, at most as many as the terminal has. */
export function screenLines(data: TopData, state: ViewState, { columns, rows }: ScreenSize): string[] {
  const head = [...headLines(data), filterLine(state)].map((line) => cut(line, columns))
  const space = Math.max(1, rows - head.length - 2)
  const body =
    data.detail === null ? listLines(data.rows, state, columns, space) : detailLines(data.detail, columns)
  const foot = cut(data.detail === null ? KEYS_OF_LIST : KEYS_OF_ROUTE, columns)
  return [...head, ...body.slice(0, space + 1), foot].slice(0, rows)
}

/** Returns the state of the gateway in two lines. */
export function headLines({ origin, status, total, problem }: TopData): string[] {
  const workers = status.parts('workers')
  const sum = (name: string): number => workers.reduce((all, worker) => all + worker.number(name), 0)
  const ready = workers.filter((worker) => worker.text('state') === 'ready').length
  const lagMs = Math.max(0, ...workers.map((worker) => worker.number('loopLagMs')))
  const up = ageText(status.number('uptimeMs'))
  return [
    `Sluice ${status.text('version')} at ${origin}, up ${up}${problem === '' ? '' : ` - ${problem}`}`,
    `${rateText(total.rate)} req/s, ${rateText(total.serverErrors)} 5xx/s, p50 ${msText(total.p50)} ms, p99 ${msText(total.p99)} ms; ` +
      `${ready} of ${countText(workers.length, 'worker')} ready, ${sum('inFlight')} in flight, ${countText(sum('connections'), 'connection')}, ` +
      `${formatSize(sum('rssBytes'))}, lag ${lagMs.toFixed(0)} ms`,
  ].map(visibleText)
}

function filterLine({ filter, isTyping, sort, route }: ViewState): string {
  if (route !== null) return ''
  const text = filter === '' && !isTyping ? '' : `; filter: ${visibleText(filter)}${isTyping ? '_' : ''}`
  return `sorted by ${sort}${text}`
}

/** Returns the heading and the part of the list around the selected row. */
function listLines(
  rows: readonly TrafficRow[],
  { selected }: ViewState,
  columns: number,
  space: number,
): string[] {
  const first = Math.max(0, Math.min(selected - space + 1, rows.length - space))
  const [heading = '', ...lines] = tableLines(
    ROUTE_HEADINGS,
    rows.slice(first, first + space).map(routeCells),
    columns,
  )
  return [
    bold(cut(heading, columns)),
    ...lines.map((line, i) => {
      const text = cut(line, columns)
      return first + i === selected ? `${INVERSE}${text.padEnd(columns)}${RESET}` : text
    }),
  ]
}

/** Returns the cells of a row. */
export function routeCells({
  route,
  rate,
  serverErrors,
  clientErrors,
  p50,
  p90,
  p99,
  total,
}: TrafficRow): Cell[] {
  return [
    route,
    right(rateText(rate)),
    right(rateText(serverErrors)),
    right(rateText(clientErrors)),
    right(msText(p50)),
    right(msText(p90)),
    right(msText(p99)),
    total,
  ]
}

function detailLines({ row, goesTo, policies, targets }: RouteDetail, columns: number): string[] {
  const table = (headings: readonly string[], rows: readonly Cell[][]): string[] => {
    const [heading = '', ...lines] = tableLines(headings, rows, columns).map((line) => cut(line, columns))
    return [bold(heading), ...lines]
  }
  return [
    ...table(ROUTE_HEADINGS, [routeCells(row)]),
    '',
    `goes to ${visibleText(goesTo)}`,
    '',
    ...(policies.length === 0 ? ['no policies'] : table(POLICY_HEADINGS, policies)),
    '',
    ...(targets.length === 0 ? ['no targets'] : table(TARGET_HEADINGS, targets)),
  ]
}

/** Formats a rate. */
function rateText(rate: number): string {
  return rate === 0 ? '0' : rate < 100 ? rate.toFixed(1) : rate.toFixed(0)
}

/** Aligns a column of numbers and dashes to the right. */
function right(text: string): string {
  return text.padStart(NUMBER_WIDTH)
}

function msText(ms: number | null): string {
  return ms === null ? '-' : ms < 100 ? ms.toFixed(1) : ms.toFixed(0)
}

function bold(text: string): string {
  return `${BOLD}${text}${RESET}`
}

function cut(line: string, columns: number): string {
  return [...line].slice(0, columns).join('')
}
