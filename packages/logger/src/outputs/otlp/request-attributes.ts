import type { BinaryWriter } from '@bufbuild/protobuf/wire'
import { writeInteger, writeText } from './attributes.js'
import type { TracedRecord } from './traced-record.js'

/** Methods that the semantic conventions know. */
const METHODS: ReadonlySet<unknown> = new Set(
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '),
)

/** Returns true if the request or the response failed on the side of the server. */
export function isFailed({ res, result }: TracedRecord): boolean {
  return Number(res?.status) >= 500 || result === 'error'
}

/** Returns the name of a span or event: the method and the path pattern, if any. */
export function requestName(method: unknown, template: unknown): string {
  const verb = METHODS.has(method) ? String(method) : 'HTTP'
  return typeof template === 'string' ? `${verb} ${template}` : verb
}

/** Writes the attributes of a request. @param field number of the attributes field */
export function writeRequest(w: BinaryWriter, field: number, record: TracedRecord): void {
  const { http, url, error, res, client, up, result } = record
  writeMethod(w, field, http?.method)
  writeText(w, field, 'http.route', url?.template)
  writeText(w, field, 'url.path', url?.path)
  writeText(w, field, 'url.query', url?.query)
  writeText(w, field, 'url.scheme', url?.scheme)
  writeText(w, field, 'server.address', url?.host)
  writeInteger(w, field, 'server.port', url?.port ?? usualPort(url?.scheme))
  writeText(w, field, 'client.address', client?.ip)
  writeText(w, field, 'network.protocol.version', http?.version)
  writeText(w, field, 'user_agent.original', record.ua)
  writeInteger(w, field, 'http.response.status_code', res?.status)
  writeText(w, field, 'error.type', error?.code ?? (isFailed(record) ? res?.status : undefined))
  writeText(w, field, 'sluice.request.id', record.id)
  writeText(w, field, 'sluice.route', record.route)
  writeText(w, field, 'sluice.api', record.api)
  writeText(w, field, 'sluice.consumer', record.consumer?.id)
  writeText(w, field, 'sluice.upstream', up?.name)
  writeText(w, field, 'sluice.result', result)
  writeText(w, field, 'sluice.policy', error?.policy)
}

/** Writes the method as the semantic conventions want it. Nothing for a record without a request. */
export function writeMethod(w: BinaryWriter, field: number, method: unknown): void {
  if (method === undefined) return
  const isKnown = METHODS.has(method)
  writeText(w, field, 'http.request.method', isKnown ? method : '_OTHER')
  if (!isKnown) writeText(w, field, 'http.request.method_original', method)
}

/** Returns the port of a scheme, with or without a colon. Undefined without a scheme. */
export function usualPort(scheme: unknown): number | undefined {
  return scheme === undefined ? undefined : String(scheme).startsWith('https') ? 443 : 80
}

const MILLISECOND_DIGITS = '2026-01-01T00:00:00.000'.length

/** Returns the arrival of a request in nanoseconds since the epoch. `Date` ignores digits after the milliseconds. */
export function arrivalOf(record: TracedRecord): bigint {
  const instant = String(record['@timestamp'])
  const ms = Date.parse(instant)
  if (Number.isNaN(ms)) return 0n
  const rest = instant.slice(MILLISECOND_DIGITS, -1).padEnd(6, '0')
  return BigInt(ms) * 1_000_000n + (/^[0-9]{6}$/.test(rest) ? BigInt(rest) : 0n)
}

/** Converts a duration in milliseconds to nanoseconds. */
export function nanoseconds(ms: unknown): bigint {
  return typeof ms === 'number' && ms > 0 ? BigInt(Math.round(ms * 1_000_000)) : 0n
}

/** Returns the bytes of an ID, or null if it is absent or of another length. */
export function idOf(text: unknown, bytes: number): Buffer | null {
  if (typeof text !== 'string') return null
  const id = Buffer.from(text, 'hex')
  return id.length === bytes ? id : null
}
