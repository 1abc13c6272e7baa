import type { TracingPlan } from '@sluice/config'
import {
  type ExchangeTrace,
  headerCount,
  headerJoined,
  headerValue,
  isLowerHex,
  readTraceparent,
  setHeader,
  trimOws,
} from '@sluice/core'

/** What the fields of a request say about its trace. */
export interface ReceivedTrace {
  /** Empty if the fields contain only a sampling decision. */
  readonly traceId: string
  /** Span of the caller, or empty. */
  readonly spanId: string
  /** Sampling decision of the caller, or null if it left that to the gateway. */
  readonly isSampled: boolean | null
  /** Value of tracestate to pass on, or empty. */
  readonly state: string
}

/** Trace and span that are sent to an upstream. */
export interface SentTrace extends Pick<ExchangeTrace, 'traceId' | 'spanId' | 'isSampled'> {
  readonly state: string
  /** Span of the attempt, the parent of the upstream's span. */
  readonly attemptId: string
  readonly traceparent: string
}

/** Header format of trace contexts. */
interface Propagation {
  /** Returns null if the fields are absent or invalid. */
  read(headers: readonly string[]): ReceivedTrace | null
  write(headers: string[], sent: SentTrace): void
}

/** Formats by their names in the configuration. */
export const PROPAGATIONS: Readonly<Record<TracingPlan['propagation'][number], Propagation>> = {
  tracecontext: { read: readTraceContext, write: writeTraceContext },
  b3: { read: readB3, write: writeB3 },
  b3multi: { read: readB3Multi, write: writeB3Multi },
}

/** Fields of a format. */
export const FIELDS_OF: Readonly<Record<TracingPlan['propagation'][number], readonly string[]>> = {
  tracecontext: ['traceparent', 'tracestate'],
  b3: ['b3'],
  b3multi: ['x-b3-traceid', 'x-b3-spanid', 'x-b3-parentspanid', 'x-b3-sampled', 'x-b3-flags'],
}

/**
 * A member of tracestate (W3C Trace Context level 1, section 3.3.1), with the tenant format of keys. Empty members are
 * allowed. Spaces around members are removed before, because here they would take quadratic time.
 */
const STATE_MEMBER =
  /^(?:(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[ -+\--<>-~]{0,255}[!-+\--<>-~])?$/
const MAX_STATE_MEMBERS = 32
/** Longer values may be dropped (section 3.3.1.5). */
const MAX_STATE_LENGTH = 4096

function readTraceContext(headers: readonly string[]): ReceivedTrace | null {
  if (headerCount(headers, 'traceparent') !== 1) return null
  const caller = readTraceparent(headerValue(headers, 'traceparent')!)
  return caller === null ? null : { ...caller, state: validState(headerJoined(headers, 'tracestate') ?? '') }
}

/** Returns the value of tracestate, or an empty string if a part of it is invalid. */
function validState(text: string): string {
  if (text === '' || text.length > MAX_STATE_LENGTH) return ''
  const members = text.split(',')
  if (members.length > MAX_STATE_MEMBERS) return ''
  const keys = new Set<string>()
  for (const part of members) {
    const member = trimOws(part)
    if (!STATE_MEMBER.test(member)) return ''
    const key = member.slice(0, member.indexOf('=') + 1)
    if (key === '') continue
    if (keys.has(key)) return ''
    keys.add(key)
  }
  return text
}

function writeTraceContext(headers: string[], { traceparent, state }: SentTrace): void {
  if (state !== '') setHeader(headers, 'tracestate', state)
  setHeader(headers, 'traceparent', traceparent)
}

/** Reads `TRACE-SPAN`, `TRACE-SPAN-SAMPLED`, `TRACE-SPAN-SAMPLED-PARENT` or `0`. */
function readB3(headers: readonly string[]): ReceivedTrace | null {
  if (headerCount(headers, 'b3') !== 1) return null
  const text = headerValue(headers, 'b3')!
  if (text === '0') return { traceId: '', spanId: '', isSampled: false, state: '' }
  const parts = text.split('-')
  if (parts.length < 2 || parts.length > 4) return null
  const [trace, span, sampled, parent] = parts
  if (parent !== undefined && !isB3Id(parent, 16)) return null
  return b3Trace(trace!, span!, sampled)
}

function readB3Multi(headers: readonly string[]): ReceivedTrace | null {
  for (const name of FIELDS_OF.b3multi) if (headerCount(headers, name) > 1) return null
  const flags = headerValue(headers, 'x-b3-flags')
  const sampled = flags === '1' ? 'd' : (headerValue(headers, 'x-b3-sampled') ?? undefined)
  const trace = headerValue(headers, 'x-b3-traceid')
  const span = headerValue(headers, 'x-b3-spanid')
  if (trace === null && span === null && sampled === '0')
    return { traceId: '', spanId: '', isSampled: false, state: '' }
  const parent = headerValue(headers, 'x-b3-parentspanid')
  if (trace === null || span === null || (parent !== null && !isB3Id(parent, 16))) return null
  return b3Trace(trace, span, sampled)
}

function b3Trace(trace: string, span: string, sampled: string | undefined): ReceivedTrace | null {
  if (!isB3Id(trace, 32) && !isB3Id(trace, 16)) return null
  if (!isB3Id(span, 16)) return null
  if (sampled !== undefined && sampled !== '0' && sampled !== '1' && sampled !== 'd') return null
  const isSampled = sampled === undefined ? null : sampled !== '0'
  return { traceId: trace.padStart(32, '0'), spanId: span, isSampled, state: '' }
}

function isB3Id(text: string, length: number): boolean {
  return text.length === length && isLowerHex(text, 0, length) && !/^0+$/.test(text)
}

function writeB3(headers: string[], { traceId, attemptId, isSampled, spanId }: SentTrace): void {
  setHeader(headers, 'b3', `${traceId}-${attemptId}-${isSampled ? '1' : '0'}-${spanId}`)
}

function writeB3Multi(headers: string[], { traceId, attemptId, isSampled, spanId }: SentTrace): void {
  setHeader(headers, 'x-b3-traceid', traceId)
  setHeader(headers, 'x-b3-spanid', attemptId)
  setHeader(headers, 'x-b3-parentspanid', spanId)
  setHeader(headers, 'x-b3-sampled', isSampled ? '1' : '0')
}
