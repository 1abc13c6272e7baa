import { hostname } from 'node:os'
import { readRecord } from '../record-parts.js'
import { FACILITIES, type SyslogOptions } from './options.js'

/** Severities by exchange result: error 3, warning 4, notice 5, informational 6 (RFC 5424 section 6.2.1). */
const SEVERITIES: ReadonlyMap<unknown, number> = new Map([
  ['success', 6],
  ['blocked', 5],
  ['aborted', 5],
  ['shed', 4],
  ['error', 3],
])
const NOTICE = 5
/** Maximum lengths of APP-NAME and HOSTNAME (RFC 5424 section 6). */
const MAX_APP_NAME = 48
const MAX_HOSTNAME = 255
const MESSAGE_ID = 'traffic'
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/

/** Converts records to RFC 5424 syslog messages with the record's JSON as the message text. */
export class SyslogMessages {
  readonly #base: number
  readonly #middle: string
  readonly #dataId: string
  readonly #host = headText(hostname(), MAX_HOSTNAME)

  constructor({ facility, appName, structuredDataId }: SyslogOptions) {
    this.#base = FACILITIES.indexOf(facility) * 8
    this.#middle = ` ${headText(appName, MAX_APP_NAME)} ${process.pid} ${MESSAGE_ID} `
    this.#dataId = structuredDataId
  }

  /**
   * Returns the message for a record. @param key Unique key of the record, by which a receiver can detect
   * duplicates.
   */
  messageOf(json: Buffer, key: string): Buffer {
    const record = readRecord(json.toString('latin1'))
    const priority = this.#base + (SEVERITIES.get(record.result) ?? NOTICE)
    const time = String(record['@timestamp'])
    const pod = record.gw?.pod
    const head =
      `<${priority}>1 ${TIMESTAMP.test(time) ? time : '-'} ` +
      (typeof pod === 'string' ? headText(pod, MAX_HOSTNAME) : this.#host) +
      this.#middle +
      `[${this.#dataId}` +
      parameter('id', record.id) +
      parameter('route', record.route) +
      parameter('status', record.res?.status) +
      parameter('key', key) +
      '] '
    return Buffer.concat([Buffer.from(head), json])
  }
}

/** Returns a header field: printable ASCII without spaces, or `-` if empty. */
function headText(text: string, maxLength: number): string {
  const printable = text.replace(/[^\x21-\x7e]/g, '_').slice(0, maxLength)
  return printable === '' ? '-' : printable
}

/** Formats a parameter. `"`, `\` and `]` are escaped (RFC 5424 section 6.3.3). */
function parameter(name: string, value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return ''
  return ` ${name}="${String(value).replace(/["\\\]]/g, '\\$&')}"`
}
