import { type BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { attemptSpanId } from '@sluice/core'
import { writeInteger, writeText } from './attributes.js'
import {
  arrivalOf,
  idOf,
  isFailed,
  nanoseconds,
  requestName,
  usualPort,
  writeMethod,
  writeRequest,
} from './request-attributes.js'
import { ITEMS } from './resource-message.js'
import type { TracedPolicy, TracedRecord, TracedTry, TracedUpstream } from './traced-record.js'

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

/** Numbers of the spans of policies count down from here, those of upstream attempts up from 1. */
const LAST_NUMBER = 255
const MAX_POLICIES = 32

/**
 * Writes the spans of a record: one for the request, and one for each upstream attempt and for each slow policy.
 * Returns their number.
 */
export function writeSpans(w: BinaryWriter, record: TracedRecord): number {
  const traceId = idOf(record.trace?.id, 16)
  const spanId = idOf(record.span?.id, 8)
  if (traceId === null || spanId === null) return 0
  const since = arrivalOf(record)
  writeServerSpan(w, record, { traceId, spanId, since })
  const attempts =
    record.up === undefined ? 0 : writeAttempts(w, record, record.up, { traceId, spanId, since })
  const policies = (record.policy_spans ?? []).slice(0, MAX_POLICIES)
  for (const [i, policy] of policies.entries())
    writePolicy(w, policy, { traceId, spanId, since, number: LAST_NUMBER - i })
  return 1 + attempts + policies.length
}

interface SpanPlace {
  readonly traceId: Buffer
  /** Span of the request. */
  readonly spanId: Buffer
  /** Arrival of the request in nanoseconds since the epoch. */
  readonly since: bigint
}

function writeServerSpan(w: BinaryWriter, record: TracedRecord, { traceId, spanId, since }: SpanPlace): void {
  const { http, url } = record
  w.tag(ITEMS, WireType.LengthDelimited).fork()
  writeIds(w, traceId, spanId, idOf(record.parent?.id, 8))
  w.tag(FIELD.name, WireType.LengthDelimited).string(requestName(http?.method, url?.template))
  writeTimes(w, KIND.server, since, since + nanoseconds(record.t?.total))
  writeRequest(w, ATTRIBUTES, record)
  if (isFailed(record)) writeError(w)
  w.join()
}

/**
 * Writes the spans of the failed attempts, and of the last one unless it is one of them. Returns their number.
 */
function writeAttempts(w: BinaryWriter, record: TracedRecord, up: TracedUpstream, place: SpanPlace): number {
  const tries = up.tries ?? []
  for (const [i, one] of tries.entries()) writeAttempt(w, record, one, { ...place, number: i + 1 })
  const count = Number(up.attempts)
  if (!(count > tries.length)) return tries.length
  const ms = up.ms ?? Number(record.t?.total) - Number(up.at)
  const code = up.status === undefined ? record.error?.code : undefined
  const { addr, at, status } = up
  writeAttempt(w, record, { addr, at, ms, status, code }, { ...place, number: count })
  return tries.length + 1
}

function writeAttempt(
  w: BinaryWriter,
  { http, up }: TracedRecord,
  { addr, at, ms, status, code }: TracedTry,
  { traceId, spanId, since, number }: SpanPlace & { readonly number: number },
): void {
  const start = since + nanoseconds(at)
  const isError = Number(status) >= 400 || code !== undefined
  w.tag(ITEMS, WireType.LengthDelimited).fork()
  const id = Buffer.from(attemptSpanId(spanId.toString('hex'), number), 'hex')
  writeIds(w, traceId, id, spanId)
  w.tag(FIELD.name, WireType.LengthDelimited).string(requestName(http?.method, undefined))
  writeTimes(w, KIND.client, start, start + nanoseconds(ms))
  writeMethod(w, ATTRIBUTES, http?.method)
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
  w.tag(ITEMS, WireType.LengthDelimited).fork()
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

function writeTimes(w: BinaryWriter, kind: number, start: bigint, end: bigint): void {
  w.tag(FIELD.kind, WireType.Varint).int32(kind)
  w.tag(FIELD.start, WireType.Bit64).fixed64(start)
  w.tag(FIELD.end, WireType.Bit64).fixed64(end)
}

/** Writes address and port of a target, and the URL without its query, which may contain secrets. */
function writeTarget(w: BinaryWriter, origin: string, path: unknown): void {
  if (!URL.canParse(origin)) return
  const url = new URL(origin)
  writeText(w, ATTRIBUTES, 'server.address', url.hostname)
  writeInteger(w, ATTRIBUTES, 'server.port', url.port === '' ? usualPort(url.protocol) : Number(url.port))
  if (typeof path === 'string') writeText(w, ATTRIBUTES, 'url.full', origin + path)
}

function writeError(w: BinaryWriter): void {
  w.tag(FIELD.status, WireType.LengthDelimited).fork()
  w.tag(STATUS_CODE, WireType.Varint).int32(STATUS_ERROR)
  w.join()
}
