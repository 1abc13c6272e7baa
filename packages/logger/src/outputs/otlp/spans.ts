import { type BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { attemptSpanId } from '@sluice/core'
import { writeInteger, writeText } from './attributes.js'
import type { TracedPolicy, TracedRecord, TracedTry, TracedUpstream } from './traced-record.js'

/** Field of the spans in ScopeSpans. */
const SPANS = 2
/** Fields of Span in opentelemetry/proto/trace/v1/trace.proto. */
const FIELD = {
  ...{ traceId: 1, spanId: 2, parentSpanId: 4, name: 5, kind: 6, start: 7, end: 8, attributes: 9 },
  ...{ status: 15 },
} as const
const ATTRIBUTES = FIELD.attributes
const KIND = { internal: 1, server: 2, client: 3 } as const
/** Field `code` of Status and its value for errors. */
const STATUS_CODE = 3
const STATUS_ERROR = 2

/** Methods that the semantic conventions know. */
const METHODS: ReadonlySet<unknown> = new Set(
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '),
)
const MILLISECOND_DIGITS = '2026-01-01T00:00:00.000'.length

/** Numbers of the spans of policies count down from here, those of upstream attempts up from 1. */
const LAST_NUMBER = 255
const MAX_POLICIES = 32

/** Writes the spans of a record: one for the request, and one for each upstream attempt and for each slow policy. */
export function writeSpans(w: BinaryWriter, record: TracedRecord): void {
  const traceId = idOf(record.trace?.id, 16)
  const spanId = idOf(record.span?.id, 8)
  if (traceId === null || spanId === null) return
  const since = nanosecondsOf(String(record['@timestamp']))
  writeServerSpan(w, record, { traceId, spanId, since })
  if (record.up !== undefined) writeAttempts(w, record, record.up, { traceId, spanId, since })
  const policies = record.policy_spans ?? []
  for (let i = 0; i < policies.length && i < MAX_POLICIES; i++)
    writePolicy(w, policies[i]!, { traceId, spanId, since, number: LAST_NUMBER - i })
}

interface SpanPlace {
  readonly traceId: Buffer
  /** Span of the request. */
  readonly spanId: Buffer
  /** Arrival of the request in nanoseconds since the epoch. */
  readonly since: bigint
}

function writeServerSpan(w: BinaryWriter, record: TracedRecord, { traceId, spanId, since }: SpanPlace): void {
  const { http, url, error, res, client, up, result } = record
  const parent = idOf(record.parent?.id, 8)
  const status = res?.status
  const isError = Number(status) >= 500 || result === 'error'
  w.tag(SPANS, WireType.LengthDelimited).fork()
  writeIds(w, traceId, spanId, parent)
  writeName(w, http?.method, url?.template)
  writeTimes(w, KIND.server, since, since + nanoseconds(record.t?.total))
  writeMethod(w, http?.method)
  writeText(w, ATTRIBUTES, 'http.route', url?.template)
  writeText(w, ATTRIBUTES, 'url.path', url?.path)
  writeText(w, ATTRIBUTES, 'url.query', url?.query)
  writeText(w, ATTRIBUTES, 'url.scheme', url?.scheme)
  writeText(w, ATTRIBUTES, 'server.address', url?.host)
  writeInteger(w, ATTRIBUTES, 'server.port', url?.port ?? usualPort(url?.scheme))
  writeText(w, ATTRIBUTES, 'client.address', client?.ip)
  writeText(w, ATTRIBUTES, 'network.protocol.version', http?.version)
  writeText(w, ATTRIBUTES, 'user_agent.original', record.ua)
  writeInteger(w, ATTRIBUTES, 'http.response.status_code', status)
  writeText(w, ATTRIBUTES, 'error.type', error?.code ?? (isError ? status : undefined))
  writeText(w, ATTRIBUTES, 'sluice.request.id', record.id)
  writeText(w, ATTRIBUTES, 'sluice.route', record.route)
  writeText(w, ATTRIBUTES, 'sluice.api', record.api)
  writeText(w, ATTRIBUTES, 'sluice.consumer', record.consumer?.id)
  writeText(w, ATTRIBUTES, 'sluice.upstream', up?.name)
  writeText(w, ATTRIBUTES, 'sluice.result', result)
  writeText(w, ATTRIBUTES, 'sluice.policy', error?.policy)
  if (isError) writeError(w)
  w.join()
}

/** Writes the spans of the failed attempts, and of the last one unless it is one of them. */
function writeAttempts(w: BinaryWriter, record: TracedRecord, up: TracedUpstream, place: SpanPlace): void {
  const tries = up.tries ?? []
  for (const [i, one] of tries.entries()) writeAttempt(w, record, one, { ...place, number: i + 1 })
  const count = Number(up.attempts)
  if (!(count > tries.length)) return
  const ms = up.ms ?? Number(record.t?.total) - Number(up.at)
  const code = up.status === undefined ? record.error?.code : undefined
  const { addr, at, status } = up
  writeAttempt(w, record, { addr, at, ms, status, code }, { ...place, number: count })
}

function writeAttempt(
  w: BinaryWriter,
  { http, up }: TracedRecord,
  { addr, at, ms, status, code }: TracedTry,
  { traceId, spanId, since, number }: SpanPlace & { readonly number: number },
): void {
  const start = since + nanoseconds(at)
  const isError = Number(status) >= 400 || code !== undefined
  w.tag(SPANS, WireType.LengthDelimited).fork()
  const id = Buffer.from(attemptSpanId(spanId.toString('hex'), number), 'hex')
  writeIds(w, traceId, id, spanId)
  writeName(w, http?.method, undefined)
  writeTimes(w, KIND.client, start, start + nanoseconds(ms))
  writeMethod(w, http?.method)
  writeTarget(w, String(addr), up?.path)
  writeInteger(w, ATTRIBUTES, 'http.response.status_code', status === 0 ? undefined : status)
  if (number > 1) writeInteger(w, ATTRIBUTES, 'http.request.resend_count', number - 1)
  writeText(w, ATTRIBUTES, 'error.type', code ?? (isError ? status : undefined))
  writeText(w, ATTRIBUTES, 'sluice.upstream', up?.name)
  if (isError) writeError(w)
  w.join()
}

/** Writes the span of a run of a policy. A skipped policy only evaluated its condition. */
function writePolicy(
  w: BinaryWriter,
  { id, phase, at, ms, out, note }: TracedPolicy,
  { traceId, spanId, since, number }: SpanPlace & { readonly number: number },
): void {
  const start = since + nanoseconds(at)
  w.tag(SPANS, WireType.LengthDelimited).fork()
  writeIds(w, traceId, Buffer.from(attemptSpanId(spanId.toString('hex'), number), 'hex'), spanId)
  w.tag(FIELD.name, WireType.LengthDelimited).string(`policy ${String(id)}`)
  writeTimes(w, KIND.internal, start, start + nanoseconds(ms))
  writeText(w, ATTRIBUTES, 'sluice.policy', id)
  writeText(w, ATTRIBUTES, 'sluice.policy.phase', phase)
  writeText(w, ATTRIBUTES, 'sluice.policy.result', out)
  const isError = out === 'error' || (out === 'stop' && !isStatus(note))
  writeText(w, ATTRIBUTES, isError ? 'error.type' : 'sluice.policy.note', note)
  if (isError) writeError(w)
  w.join()
}

/** True if a policy has responded without refusing the request, such as a cache or a redirect. */
function isStatus(note: unknown): boolean {
  return /^[0-9]+$/.test(String(note))
}

function writeIds(w: BinaryWriter, traceId: Buffer, spanId: Buffer, parentId: Buffer | null): void {
  w.tag(FIELD.traceId, WireType.LengthDelimited).bytes(traceId)
  w.tag(FIELD.spanId, WireType.LengthDelimited).bytes(spanId)
  if (parentId !== null) w.tag(FIELD.parentSpanId, WireType.LengthDelimited).bytes(parentId)
}

/** Writes the name: the method and the path pattern, if any. */
function writeName(w: BinaryWriter, method: unknown, template: unknown): void {
  const verb = METHODS.has(method) ? String(method) : 'HTTP'
  const name = typeof template === 'string' ? `${verb} ${template}` : verb
  w.tag(FIELD.name, WireType.LengthDelimited).string(name)
}

function writeTimes(w: BinaryWriter, kind: number, start: bigint, end: bigint): void {
  w.tag(FIELD.kind, WireType.Varint).int32(kind)
  w.tag(FIELD.start, WireType.Bit64).fixed64(start)
  w.tag(FIELD.end, WireType.Bit64).fixed64(end)
}

function writeMethod(w: BinaryWriter, method: unknown): void {
  const isKnown = METHODS.has(method)
  writeText(w, ATTRIBUTES, 'http.request.method', isKnown ? method : '_OTHER')
  if (!isKnown) writeText(w, ATTRIBUTES, 'http.request.method_original', method)
}

/** Writes address and port of a target, and the URL without its query, which may contain secrets. */
function writeTarget(w: BinaryWriter, origin: string, path: unknown): void {
  if (!URL.canParse(origin)) return
  const url = new URL(origin)
  writeText(w, ATTRIBUTES, 'server.address', url.hostname)
  writeInteger(w, ATTRIBUTES, 'server.port', url.port === '' ? usualPort(url.protocol) : Number(url.port))
  if (typeof path === 'string') writeText(w, ATTRIBUTES, 'url.full', origin + path)
}

/** Returns the port of a scheme, with or without a colon. Undefined without a scheme. */
function usualPort(scheme: unknown): number | undefined {
  return scheme === undefined ? undefined : String(scheme).startsWith('https') ? 443 : 80
}

function writeError(w: BinaryWriter): void {
  w.tag(FIELD.status, WireType.LengthDelimited).fork()
  w.tag(STATUS_CODE, WireType.Varint).int32(STATUS_ERROR)
  w.join()
}

/** Returns the bytes of an ID, or null if it is absent or of another length. */
function idOf(text: unknown, bytes: number): Buffer | null {
  if (typeof text !== 'string') return null
  const id = Buffer.from(text, 'hex')
  return id.length === bytes ? id : null
}

/** Returns nanoseconds since the epoch for an ISO 8601 instant, whose digits after the milliseconds `Date` ignores. */
function nanosecondsOf(instant: string): bigint {
  const ms = Date.parse(instant)
  if (Number.isNaN(ms)) return 0n
  const rest = instant.slice(MILLISECOND_DIGITS, -1).padEnd(6, '0')
  return BigInt(ms) * 1_000_000n + (/^[0-9]{6}$/.test(rest) ? BigInt(rest) : 0n)
}

function nanoseconds(ms: unknown): bigint {
  return typeof ms === 'number' && ms > 0 ? BigInt(Math.round(ms * 1_000_000)) : 0n
}
