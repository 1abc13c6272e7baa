import type { Expected, ExpectedRequest, Verdict } from '@sluice/config'
import type { SeenRequest, TrialResponse, TrialResult } from '@sluice/gateway/trial'
import { recordValue, type TrafficRecord } from '@sluice/logger'
import { expectedFields, fieldsOf, jsonOf, type Mismatch, mismatches } from './matching.js'

/** Everything that happened to a request. */
export interface Observed extends Pick<TrialResult, 'route' | 'steps'> {
  readonly response: TrialResponse
  /** Requests to upstreams, without mirrored ones. */
  readonly upstream: readonly SeenRequest[]
  readonly calls: readonly SeenRequest[]
  /** Returns the traffic log record, or null if none was written. */
  readonly record: () => TrafficRecord | null
}

/** Returns the differences from the expected results, except for the snapshot. */
export function unmet(expected: Expected, observed: Observed): readonly Mismatch[] {
  const { route, policies = {}, upstream, calls, response, record } = expected
  return [
    ...(route === undefined ? [] : mismatches(route, observed.route ?? 'none', 'route')),
    ...Object.entries(policies).flatMap(([name, verdict]) =>
      mismatches(verdict, verdictOf(name, observed), `policies.${name}`),
    ),
    ...(upstream === undefined ? [] : requestMismatches(upstream, observed.upstream, 'upstream')),
    ...(calls === undefined ? [] : requestMismatches(calls, observed.calls, 'calls')),
    ...(response === undefined ? [] : responseMismatches(response, observed.response)),
    ...(record === undefined ? [] : recordMismatches(record, observed.record())),
  ]
}

/** Returns the differences from the expected response. */
export function responseMismatches(
  expected: NonNullable<Expected['response']>,
  response: TrialResponse,
): readonly Mismatch[] {
  if (response.error !== null) return [{ path: 'response', expected: 'a response', actual: response.error }]
  const parts = typeof expected === 'object' ? expected : { status: expected }
  const { status, code, ...message } = parts as { status?: unknown; code?: unknown } & ExpectedRequest
  const fields = fieldsOf(response.headers)
  return [
    ...(status === undefined ? [] : mismatches(status, response.status, 'response.status')),
    ...(code === undefined ? [] : mismatches(code, fields['x-gw-error'], 'response.code')),
    ...messageMismatches(message, { fields, body: response.body }, 'response'),
  ]
}

/** Returns the verdict of a policy: a refusal or failure in any phase counts most. */
function verdictOf(name: string, { steps }: Observed): Verdict {
  const runs = steps.filter(({ policy, use }) => policy === name || use === name)
  if (runs.length === 0) return 'absent'
  if (runs.some(({ outcome }) => outcome === 'error')) return 'failed'
  const response = runs.find(({ outcome }) => outcome === 'respond')
  if (response !== undefined) return isRefusal(response.note) ? 'refused' : 'answered'
  return runs.every(({ outcome }) => outcome === 'skipped') ? 'skipped' : 'passed'
}

function isRefusal(note: string): boolean {
  return note.startsWith('GW_') || Number.parseInt(note, 10) >= 400
}

function requestMismatches(
  expected: NonNullable<Expected['upstream']>,
  seen: readonly SeenRequest[],
  path: string,
): readonly Mismatch[] {
  if (expected === 'none') {
    const actual = seen.map(({ method, origin, path }) => `${method} ${origin}${path}`).join(', ')
    return seen.length === 0 ? [] : [{ path, expected: 'none', actual }]
  }
  if (!Array.isArray(expected)) {
    const last = seen.at(-1)
    if (last === undefined) return [{ path, expected: 'a request', actual: 'none' }]
    return oneMismatch(expected as ExpectedRequest, last, path)
  }
  const list = expected as readonly ExpectedRequest[]
  if (list.length !== seen.length)
    return [{ path, expected: `${list.length} requests`, actual: `${seen.length}` }]
  return list.flatMap((each, i) => oneMismatch(each, seen[i]!, `${path}[${i}]`))
}

function oneMismatch(
  { name, method, url, path, ...message }: ExpectedRequest,
  seen: SeenRequest,
  where: string,
): readonly Mismatch[] {
  const wanted = Object.entries({ name, method, url, path }).filter(([, value]) => value !== undefined)
  const actual = { name: seen.upstream, method: seen.method, url: seen.origin + seen.path, path: seen.path }
  return [
    ...mismatches(Object.fromEntries(wanted), actual, where),
    ...messageMismatches(message, { fields: fieldsOf(seen.headers), body: seen.body }, where),
  ]
}

function messageMismatches(
  { headers, body, json }: Pick<ExpectedRequest, 'headers' | 'body' | 'json'>,
  actual: { readonly fields: Record<string, string>; readonly body: Buffer },
  where: string,
): readonly Mismatch[] {
  const text = actual.body.toString()
  return [
    ...(headers === undefined ? [] : mismatches(expectedFields(headers), actual.fields, `${where}.headers`)),
    ...(body === undefined
      ? []
      : mismatches(body, text === '' && body === 'absent' ? undefined : text, `${where}.body`)),
    ...(json === undefined ? [] : mismatches(json, jsonOf(actual.body) ?? text, `${where}.json`)),
  ]
}

function recordMismatches(
  expected: NonNullable<Expected['record']>,
  record: TrafficRecord | null,
): readonly Mismatch[] {
  if (record === null) return [{ path: 'record', expected: 'a record', actual: 'none' }]
  return Object.entries(expected).flatMap(([key, value]) =>
    mismatches(value, Object.hasOwn(record, key) ? record[key] : recordValue(record, key), `record.${key}`),
  )
}
