import { recordValue, type TrafficRecord } from './record-view.js'

/** How a line is shown. */
export interface LineOptions {
  /** With the colours of a terminal (ANSI). */
  readonly color: boolean
}

/** What stands in a line, in its order. */
export const RECORD_HEADING = 'TIME STATUS METHOD URL ROUTE DURATION UPSTREAM CONSUMER RESULT'

/** By the first digit of the status: none, 1xx, 2xx green, 3xx cyan, 4xx yellow, 5xx red. */
const STATUS_COLORS: readonly string[] = ['2', '2', '32', '36', '33', '31']
/** Control characters and those that change the direction or hide text: they could make a terminal lie. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/**
 * One line for a person: time, status, method, host and path, route, duration, upstream, consumer, and what went wrong and why.
 * Of records that were lost, one line says how many. Whatever a client sent is shown, never obeyed.
 */
export function formatRecordLine(record: TrafficRecord, options: LineOptions): string {
  const text = (path: string): string => visible(recordValue(record, path))
  if (text('event.kind') === 'gap') return gapLine(record, text)
  const result = text('result')
  const parts = [
    text('@timestamp') || '-',
    painted(text('res.status') || '-', record, options),
    text('http.method') || '-',
    `${text('url.host')}${text('url.path')}` || '-',
    text('route') || '-',
    text('t.total') === '' ? '-' : `${text('t.total')}ms`,
    text('up.addr') || text('up.name') || '-',
    text('consumer.name') || text('consumer.id') || '-',
  ]
  if (result !== '' && result !== 'success') parts.push(result)
  const code = text('error.code')
  if (code !== '') parts.push(code)
  const policy = text('error.policy')
  if (policy !== '') parts.push(`by ${policy}`)
  const reason = text('error.reason')
  if (reason !== '') parts.push(`(${reason})`)
  return parts.join(' ')
}

/** What a record says of others that were lost: when it was over, which worker, how many and why, and since when. */
function gapLine(record: TrafficRecord, text: (path: string) => string): string {
  const reasons = recordValue(record, 'log.reasons')
  const reported = Object.entries(reasons !== null && typeof reasons === 'object' ? reasons : {})
    .map(([reason, count]) => `${visible(reason)} ${visible(count)}`)
    .join(', ')
  const worker = `${text('gw.pod') || '-'} worker ${text('gw.worker') || '-'}`
  return `${text('@timestamp') || '-'} gap: ${text('log.dropped')} records lost (${reported}) by ${worker} since ${text('log.since')}`
}

function painted(status: string, record: TrafficRecord, options: LineOptions): string {
  if (!options.color) return status
  const family = Math.floor(Number(recordValue(record, 'res.status')) / 100)
  return `\u001b[${STATUS_COLORS[family] ?? '2'}m${status}\u001b[0m`
}

function visible(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return ''
  return String(value).replace(INVISIBLE, escapeOf)
}

function escapeOf(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`
}
