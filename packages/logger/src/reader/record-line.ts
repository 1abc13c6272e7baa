import { visibleText } from '@sluice/core'
import { recordValue, type TrafficRecord } from './record-view.js'

/** Options for formatting a record. */
export interface LineOptions {
  /** True if the line is coloured with ANSI escapes. */
  readonly color: boolean
}

/** Column headings, in the order of the line. */
export const RECORD_HEADING = 'TIME STATUS METHOD URL ROUTE DURATION UPSTREAM CONSUMER RESULT'

/** ANSI colours by the first digit of the status: 2xx green, 3xx cyan, 4xx yellow, 5xx red. */
const STATUS_COLORS: readonly string[] = ['2', '2', '32', '36', '33', '31']

/**
 * Formats a record as one line for users: time, status, method, host and path, route, duration, upstream,
 * consumer, result and error. Records of lost records are formatted as a summary. Escapes control characters
 * from clients.
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

/** Formats a record of lost records: end of the gap, worker, number and reasons, and its start. */
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
  return visibleText(String(value))
}
