import { type Exchange, headerJoined, MASK, type SensitiveNames } from '@sluice/core'
import type { FieldLists } from './capture-narrowing.js'
import { jsonText } from './json-text.js'
import { maskedQuery, maskedUrls } from './masked-query.js'
import type { RecordEnv } from './record-env.js'

/**
 * Maximum length of a recorded field name. Elasticsearch rejects records with very long keys (32 KB or more).
 */
const MAX_NAME = 1024

/** Returns `,"scheme":…`, and `,"port":…` if the client named a port and spans of the exchange are exported. */
export function schemePart({ scheme, trace, authority, host }: Exchange): string {
  const part = scheme === 'https' ? ',"scheme":"https"' : ',"scheme":"http"'
  if (trace === null || !trace.isKept || authority.length === host.length) return part
  const port = Number(authority.slice(host.length + 1))
  return port > 0 ? part + ',"port":' + port : part
}

/**
 * Returns further members of `url`: scheme, query, and the received path if it differs from the canonical
 * one.
 */
export function urlRest(x: Exchange, sensitive: SensitiveNames): string {
  return (
    schemePart(x) +
    (x.query === '' ? '' : ',"query":"' + jsonText(maskedQuery(x.query, sensitive)) + '"') +
    (x.rawPath === x.path || x.path === '' ? '' : ',"original":"' + jsonText(x.rawPath) + '"')
  )
}

/** Returns `,"vars":{…}` with the variables that policies set. */
export function variablesPart(x: Exchange, sensitive: SensitiveNames): string {
  if (x.vars === null || x.vars.size === 0) return ''
  let members = ''
  for (const [name, value] of x.vars) members += member(members, name, sensitive.has(name) ? MASK : value)
  return ',"vars":{' + members + '}'
}

/** Returns `,"xff":…` with X-Forwarded-For as received, whether trusted or not. */
export function receivedParts(x: Exchange): string {
  return x.forwardedFor === '' ? '' : ',"xff":"' + jsonText(x.forwardedFor) + '"'
}

/**
 * Returns `,"hdr":{…}` with the header fields of each region. The field set `full` records the fields sent to
 * the upstream and to the client. A capture records the regions it selects.
 */
export function fieldsPart(x: Exchange, env: RecordEnv): string {
  const { capture } = x.record
  const full = env.fields === 'full'
  const rules = capture === null ? null : env.narrowed(capture.rules)
  const isIn = rules?.requestIn.headers === true
  const isUp = full ? x.attempts.count > 0 : rules?.requestUp.headers === true && capture!.upstreamHost !== ''
  const isBack = rules?.responseUp.headers === true
  const isOut = full || rules?.responseOut.headers === true
  const choice = { lists: rules ?? env.fieldLists, sensitive: env.sensitive }
  const regions =
    region('req_in', isIn ? capture!.requestHeaders : null, x.authority, choice) +
    region('req_up', isUp ? x.headers : null, capture?.upstreamHost ?? '', choice) +
    region('res_up', isBack ? capture!.responseHeaders : null, '', choice) +
    region('res_out', isOut ? x.responseHeaders : null, '', choice)
  return regions === '' ? '' : ',"hdr":{' + regions.slice(1) + '}'
}

/** Selection of recorded fields and of fields whose values are masked. */
interface FieldChoice {
  /** Field lists, or null to record all fields. */
  readonly lists: FieldLists | null
  readonly sensitive: SensitiveNames
}

/** Formats one region, or returns an empty string. The Host field is separate from the other fields. */
function region(name: string, list: readonly string[] | null, host: string, choice: FieldChoice): string {
  if (list === null) return ''
  const first = host === '' || !isRecorded('host', choice.lists) ? '' : '"host":"' + jsonText(host) + '"'
  return ',"' + name + '":{' + members(first, list, choice) + '}'
}

function isRecorded(name: string, lists: FieldLists | null): boolean {
  if (lists === null) return true
  const { headersAllow, headersDeny } = lists
  return (headersAllow === null || headersAllow.includes(name)) && !headersDeny.includes(name)
}

function members(first: string, list: readonly string[], { lists, sensitive }: FieldChoice): string {
  let out = first
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i]!
    if (name.length > MAX_NAME || isRepeated(list, i) || !isRecorded(name, lists)) continue
    out += member(out, name, sensitive.has(name) ? MASK : maskedUrls(headerJoined(list, name)!, sensitive))
  }
  return out
}

function member(before: string, name: string, value: string): string {
  return (before === '' ? '"' : ',"') + jsonText(name) + '":"' + jsonText(value) + '"'
}

/** Returns true if the field occurred earlier in the list. Its lines are joined at the first position. */
function isRepeated(list: readonly string[], at: number): boolean {
  for (let i = 0; i < at; i += 2) {
    if (list[i] === list[at]) return true
  }
  return false
}
