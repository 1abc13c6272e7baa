import { isIP } from 'node:net'
import { type Consumer, consumerOf } from '@sluice/core'
import type { ExplainedRequest } from '../explain/arrival.js'
import type { DocumentAnswer } from '../supervise/documents/documents.js'
import type { AdminCall, Endpoint } from './endpoint.js'
import { type AdminAnswer, problemAnswer } from './problem.js'
import { type Members, readJson } from './request-body.js'

/** Endpoints that the document thread answers. */
export const QUESTION_ENDPOINTS: readonly Endpoint[] = [
  { method: 'GET', path: '/v1/deploys/diff', access: 'viewer', answer: getDiff },
  { method: 'POST', path: '/v1/explain', access: 'viewer', answer: postExplain },
  { method: 'GET', path: '/v1/config', access: 'viewer', answer: getConfig },
]

const USAGE =
  'send {"method":"GET","url":"/orders/7"}, and if needed "headers":{"NAME":"VALUE"}, "body":"TEXT", "clientIp":"10.0.0.1" and "consumer":{"id":"ann","groups":["staff"]}'
const MAX_URL_CHARS = 16_384
const MAX_HEADERS = 200
const MAX_VALUE_CHARS = 16_384
const METHOD = /^[A-Z][A-Z-]{0,31}$/
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/
const FIELD_VALUE = /^[^\u0000-\u0008\u000a-\u001f\u007f]*$/

async function getDiff({ backend, query }: AdminCall): Promise<AdminAnswer> {
  const answer = await backend.questions.diffDeploys(query.get('from'), query.get('to'))
  if (answer === null)
    return problemAnswer('GW_ADMIN_NOT_FOUND', 'there is no such deploy; see GET /v1/deploys')
  return answerOf(answer)
}

async function postExplain(call: AdminCall): Promise<AdminAnswer> {
  const asked = await readJson(
    call,
    ['method', 'url', 'headers', 'body', 'clientIp', 'consumer'],
    explainedRequest,
    USAGE,
  )
  if (!asked.ok) return asked.answer
  const answer = await call.backend.questions.explain(asked.value)
  if (answer === null) return problemAnswer('GW_ADMIN_NOT_READY', 'no configuration is active yet')
  return answerOf(answer)
}

async function getConfig({ backend }: AdminCall): Promise<AdminAnswer> {
  const answer = await backend.questions.document()
  return answer === null
    ? problemAnswer('GW_ADMIN_NOT_READY', 'the history does not have the active document')
    : answerOf(answer)
}

/** Converts an answer of the document thread. */
export function answerOf(answer: DocumentAnswer): AdminAnswer {
  if (answer.ok)
    return { status: 200, headers: { 'content-type': 'application/json' }, body: `${answer.json}\n` }
  const { isBusy, problem } = answer
  if (isBusy) return problemAnswer('GW_ADMIN_BUSY', problem, { headers: { 'retry-after': '1' } })
  return problemAnswer('GW_ADMIN_BAD_REQUEST', problem)
}

/** Returns the request to explain, or null if a member is invalid. */
function explainedRequest(members: Members): ExplainedRequest | null {
  const { method = 'GET', url, headers = {}, body = null, clientIp = '127.0.0.1' } = members
  const fields = fieldsOf(headers)
  const consumer = assumedConsumer(members['consumer'] ?? null)
  if (typeof method !== 'string' || !METHOD.test(method)) return null
  if (typeof url !== 'string' || url.length > MAX_URL_CHARS || fields === null) return null
  if (typeof clientIp !== 'string' || isIP(clientIp) === 0) return null
  if (body !== null && typeof body !== 'string') return null
  if (consumer === undefined) return null
  const assumed = consumer === null ? {} : { consumer }
  return {
    method,
    url,
    headers: fields,
    body: body === null ? null : Buffer.from(body),
    clientIp,
    ...assumed,
  }
}

/** Returns the consumer to assume, null for none, or undefined if it is invalid. */
function assumedConsumer(value: unknown): Consumer | null | undefined {
  if (value === null) return null
  const { id, name = id, groups = [], roles = null, scopes = null, claims = {}, ...others } = value as Members
  const isValid =
    typeof id === 'string' &&
    typeof name === 'string' &&
    [groups, roles ?? [], scopes ?? []].every(isTextList) &&
    isTextList(typeof claims === 'object' && claims !== null ? Object.values(claims) : null) &&
    Object.keys(others).length === 0
  if (!isValid) return undefined
  const facts = { name, groups, roles, scopes, claims: new Map(Object.entries(claims as object)) }
  return consumerOf('assumed', id, facts as Partial<Consumer>)
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function fieldsOf(headers: unknown): [string, string][] | null {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return null
  const fields = Object.entries(headers).map(([name, value]): [string, unknown] => [
    name.toLowerCase(),
    value,
  ])
  const isValid = fields.every(([name, value]) => FIELD_NAME.test(name) && isFieldValue(value))
  return isValid && fields.length <= MAX_HEADERS ? (fields as [string, string][]) : null
}

function isFieldValue(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_VALUE_CHARS && FIELD_VALUE.test(value)
}
