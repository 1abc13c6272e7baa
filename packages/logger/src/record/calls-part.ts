import type { CallNote, Memo } from '@sluice/core'
import { millisText } from './iso-clock.js'
import { jsonText } from './json-text.js'

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
