import type { LoggedRecord, RecordQuery, RecordsAnswer } from '../supervise/records/record-query.js'
import type { AdminCall, Endpoint } from './endpoint.js'
import { type AdminAnswer, jsonAnswer, problemAnswer } from './problem.js'
import { answerOf } from './question-endpoints.js'

/** Endpoints for records of the traffic log. Records may contain personal data, so viewers cannot read them. */
export const RECORD_ENDPOINTS: readonly Endpoint[] = [
  { method: 'GET', path: '/v1/records', access: 'operator', answer: getRecords },
  { method: 'GET', path: '/v1/records/explain', access: 'operator', answer: getRecord },
]

const TEXTS = ['status', 'route', 'method', 'path', 'consumer', 'id', 'trace'] as const
const NUMBERS = ['minMs', 'limit'] as const
const MAX_TEXT = 1024
const DEFAULT_LIMIT = 100
const MAX_LIMIT = 500
/** Time after the end of a request until its record is in the log, in milliseconds. */
const WRITING_MS = 2000
/** Members that a list does not need. Captured bodies can be 64 KB each. */
const HEAVY = ['body', 'hdr', 'vars']

/** Returns the newest records that match, without headers and bodies. */
async function getRecords({ backend, query }: AdminCall): Promise<AdminAnswer> {
  const at = new Date()
  const wanted = recordQuery(query)
  if (typeof wanted === 'string') return problemAnswer('GW_ADMIN_BAD_REQUEST', wanted)
  const answer = await backend.records.search(wanted)
  if (!answer.ok) return refusalOf(answer)
  const { searched, records } = answer
  return jsonAnswer(200, { at: at.toISOString(), searched, records: records.map(light) })
}

/** Returns the newest record with an id, and why the request got its response. */
async function getRecord({ backend, query }: AdminCall): Promise<AdminAnswer> {
  const id = query.get('id') ?? ''
  if (id === '' || id.length > MAX_TEXT)
    return problemAnswer('GW_ADMIN_BAD_REQUEST', 'name the request: ?id=ID')
  // In a filter, * matches any text.
  const answer = await backend.records.search({ id: id.replaceAll('*', '\\*'), sinceMs: null, limit: 1 })
  if (!answer.ok) return refusalOf(answer)
  const [record] = answer.records
  if (record === undefined) {
    const detail = answer.searched.isComplete ? 'no record has this id' : 'no recent record has this id'
    return problemAnswer('GW_ADMIN_NOT_FOUND', detail)
  }
  const explained = await backend.questions.explainRecord(record)
  if (explained === null) return problemAnswer('GW_ADMIN_NOT_READY', 'no configuration is active yet')
  if (!explained.ok) return answerOf(explained)
  const recorded = digestIn(record)
  const { digest } = backend.status()
  const deploy = backend.deploys().find((each) => recorded !== '' && each.digest.startsWith(recorded)) ?? null
  const configuration = { recorded, active: digest, deploy }
  return jsonAnswer(200, { record, configuration, ...(JSON.parse(explained.json) as object) })
}

/** Returns the query, or an error text. */
function recordQuery(query: URLSearchParams): RecordQuery | string {
  const known: readonly string[] = [...TEXTS, ...NUMBERS, 'since']
  const stranger = [...query.keys()].find((name) => !known.includes(name))
  if (stranger !== undefined) return `unknown parameter; use ${known.join(', ')}`
  const texts = TEXTS.map((name) => [name, query.get(name) ?? ''] as const).filter(([, text]) => text !== '')
  if (texts.some(([, text]) => text.length > MAX_TEXT)) return `values have at most ${MAX_TEXT} characters`
  const [minMs, limit] = NUMBERS.map((name) => query.get(name) ?? '')
  if (!/^\d{0,9}$/.test(minMs!) || !/^([1-9]\d{0,2})?$/.test(limit!))
    return 'minMs and limit must be whole numbers, and limit not 0'
  const since = query.get('since') ?? ''
  const sinceMs = since === '' ? null : Date.parse(since) - WRITING_MS
  if (Number.isNaN(sinceMs)) return 'since must be a time, such as 2030-01-31T08:00:00Z'
  return {
    ...Object.fromEntries(texts),
    ...(minMs === '' ? {} : { minMs: Number(minMs) }),
    sinceMs,
    limit: Math.min(MAX_LIMIT, Number(limit === '' ? DEFAULT_LIMIT : limit)),
  }
}

function refusalOf({ fault, problem }: Extract<RecordsAnswer, { readonly ok: false }>): AdminAnswer {
  if (fault === 'invalid') return problemAnswer('GW_ADMIN_BAD_REQUEST', problem)
  if (fault === 'busy') return problemAnswer('GW_ADMIN_BUSY', problem, { headers: { 'retry-after': '1' } })
  return problemAnswer('GW_ADMIN_LOG_UNREADABLE', problem)
}

function light(record: LoggedRecord): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !HEAVY.includes(name)))
}

/** Returns the first digits of the digest of the configuration that served the request; empty if unknown. */
function digestIn(record: LoggedRecord): string {
  const gw = record['gw'] as { readonly config?: unknown } | undefined
  return typeof gw?.config === 'string' ? gw.config : ''
}
