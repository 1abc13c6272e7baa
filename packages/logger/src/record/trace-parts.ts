import {
  type AttemptTrace,
  type CallNote,
  type ExchangeTrace,
  type FailedTry,
  type Memo,
  type PolicySpan,
  readTraceparent,
} from '@sluice/core'
import { jsonText } from './json-text.js'
import { millisText } from './millis-text.js'

/** Returns `,"trace":{"id":…},"span":{"id":…}` of the caller. Empty if the field is absent or invalid. */
export function callerSpanPart(traceparent: string): string {
  const caller = traceparent === '' ? null : readTraceparent(traceparent)
  return caller === null
    ? ''
    : ',"trace":{"id":"' + caller.traceId + '"},"span":{"id":"' + caller.spanId + '"}'
}

/** Returns `,"trace":{"id":…,"sampled":…},"span":{"id":…},"parent":{"id":…}` of an exchange. */
export function tracePart({ traceId, spanId, parentId, isSampled }: ExchangeTrace): string {
  return (
    ',"trace":{"id":"' +
    traceId +
    (isSampled ? '","sampled":true},"span":{"id":"' : '","sampled":false},"span":{"id":"') +
    spanId +
    (parentId === '' ? '"}' : '"},"parent":{"id":"' + parentId + '"}')
  )
}

/** Returns `,"api_calls":[…]` with the calls that policies made for the request. */
export function callsPart(calls: readonly CallNote[], known: Memo<string>): string {
  return ',"api_calls":[' + calls.map((call) => callText(call, known)).join(',') + ']'
}

function callText({ name, atMs, ms, status, result, from }: CallNote, known: Memo<string>): string {
  return (
    '{"name":"' +
    known.get(name) +
    '","at":' +
    millisText(atMs) +
    ',"ms":' +
    millisText(ms) +
    (status === 0 ? '' : ',"status":' + status) +
    ',"result":"' +
    jsonText(result) +
    '","from":"' +
    from +
    '"}'
  )
}

/** Returns `,"tries":[…]` with the failed attempts, a member of `up`. */
export function triesPart({ tries }: AttemptTrace, known: Memo<string>): string {
  return tries.length === 0 ? '' : ',"tries":[' + tries.map((one) => triedText(one, known)).join(',') + ']'
}

/**
 * Returns `,"pool":{…},"loop_lag_ms":…,"policies":[…]`: connection state at a failure or in a slow exchange,
 * and the policies of a traced chain.
 * @param recordsPolicies True if policies are recorded.
 */
export function traceParts(
  { pool, loopLagMs, policies }: AttemptTrace,
  known: Memo<string>,
  recordsPolicies: boolean,
): string {
  let parts = ''
  if (pool !== null) {
    parts += ',"pool":{"busy":' + pool.busy + ',"free":' + pool.free + ',"pending":' + pool.pending + '}'
  }
  if (loopLagMs > 0) parts += ',"loop_lag_ms":' + millisText(loopLagMs)
  if (!recordsPolicies || policies === null || policies.length === 0) return parts
  const runs = policies.map(
    ({ id, ms, verdict, note }) =>
      '{"id":"' +
      known.get(id) +
      '","ms":' +
      millisText(ms) +
      ',"out":"' +
      verdict +
      (note === '' ? '"}' : '","note":"' + jsonText(note) + '"}'),
  )
  return parts + ',"policies":[' + runs.join(',') + ']'
}

/** Returns `,"policy_spans":[…]` with the runs of policies that have spans, in the order of their start. */
export function policySpansPart(
  spans: readonly PolicySpan[],
  startedMono: number,
  known: Memo<string>,
): string {
  const ordered = spans.toSorted((a, b) => a.startedMono - b.startedMono)
  const texts = ordered.map(
    ({ id, phase, startedMono: sinceMono, ms, verdict, note }) =>
      '{"id":"' +
      known.get(id) +
      '","phase":"' +
      phase +
      '","at":' +
      millisText(sinceMono - startedMono) +
      ',"ms":' +
      millisText(ms) +
      ',"out":"' +
      verdict +
      (note === '' ? '"}' : '","note":"' + jsonText(note) + '"}'),
  )
  return ',"policy_spans":[' + texts.join(',') + ']'
}

function triedText({ addr, atMs, ms, code, status, reason, retry }: FailedTry, known: Memo<string>): string {
  return (
    '{"addr":"' +
    known.get(addr) +
    '","at":' +
    millisText(atMs) +
    ',"ms":' +
    millisText(ms) +
    (code === null ? ',"status":' + status : ',"code":"' + code + '"') +
    ',"reason":"' +
    jsonText(reason) +
    '","retry":"' +
    retry +
    '"}'
  )
}
