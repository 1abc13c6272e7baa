import { type Exchange, headerJoined, MASK, type SensitiveNames } from '@sluice/core'
import type { FieldLists } from './capture-narrowing.js'
import { jsonText } from './json-text.js'
import { maskedQuery, maskedUrls } from './masked-query.js'
import type { RecordEnv } from './record-env.js'

/** A field with a longer name is not recorded: Elasticsearch refuses records whose keys are immense (from 32 KB on). */
const MAX_NAME = 1024

/** The rest of `url`: scheme, query, and the path as received where the canonical one differs. */
export function urlRest(x: Exchange, sensitive: SensitiveNames): string {
  return (
    ',"scheme":"' +
    x.scheme +
    '"' +
    (x.query === '' ? '' : ',"query":"' + jsonText(maskedQuery(x.query, sensitive)) + '"') +
    (x.rawPath === x.path || x.path === '' ? '' : ',"original":"' + jsonText(x.rawPath) + '"')
  )
}

/** `,"vars":{…}`: the free variables that policies set. */
export function variablesPart(x: Exchange, sensitive: SensitiveNames): string {
  if (x.vars === null || x.vars.size === 0) return ''
  let members = ''
  for (const [name, value] of x.vars) members += member(members, name, sensitive.has(name) ? MASK : value)
  return ',"vars":{' + members + '}'
}

/** `,"xff":…`: X-Forwarded-For as it was received, apart from the address that was believed. */
export function receivedParts(x: Exchange): string {
  return x.forwardedFor === '' ? '' : ',"xff":"' + jsonText(x.forwardedFor) + '"'
}

/**
 * `,"hdr":{…}`: the fields of each region. `full` records those that the policies left, towards the upstream and towards
 * the client; a capture records what it was asked for.
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

/** Which fields are recorded, and which of those without their values. */
interface FieldChoice {
  /** Null: all are recorded. */
  readonly lists: FieldLists | null
  readonly sensitive: SensitiveNames
}

/** One region, or nothing; the listener keeps Host apart from the other fields. */
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

/** Whether the field stood earlier in the list; its lines are joined at the first one. */
function isRepeated(list: readonly string[], at: number): boolean {
  for (let i = 0; i < at; i += 2) {
    if (list[i] === list[at]) return true
  }
  return false
}
