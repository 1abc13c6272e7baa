import type { AttemptTrace, FailedTry, Memo } from '@sluice/core'
import { millisText } from './iso-clock.js'
import { jsonText } from './json-text.js'

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

function triedText({ addr, ms, code, status, reason, retry }: FailedTry, known: Memo<string>): string {
  return (
    '{"addr":"' +
    known.get(addr) +
    '","ms":' +
    millisText(ms) +
    (code === null ? ',"status":' + status : ',"code":"' + code + '"') +
    ',"reason":"' +
    jsonText(reason) +
    '","retry":"' +
    retry +
    '"}'
  )
}
