import { type LimitKind, StateUnavailable } from '@sluice/core'
import { MAX_BANS_SHOWN } from '../supervise/limits/bans.js'
import { type LimitCount, MAX_COUNTS } from '../supervise/limits/limit-counters.js'
import type { AdminCall } from './endpoint.js'
import { type AdminAnswer, jsonAnswer, problemAnswer } from './problem.js'
import { type Members, readJson } from './request-body.js'

/** Maximum length of an id or key. */
const MAX_TEXT = 8192
const MAX_USED = 1e12

/** Handles `GET /v1/limits` and `/v1/quotas`: all policies or `?policy=ID`, all keys or `&key=KEY`. */
export function countsAnswer(call: AdminCall, kind: LimitKind): Promise<AdminAnswer> {
  const policy = call.query.get('policy')
  const key = call.query.get('key')
  return answering(async () => {
    if (policy === null && key !== null)
      return problemAnswer('GW_ADMIN_BAD_REQUEST', 'add the policy of the key: ?policy=ID&key=KEY')
    return countsOf(await call.backend.limits.get({ kind, policy, key }), kind, policy)
  })
}

/** Resets counts: `{"policy":"ID"}`, or one key with `"key":"KEY"`. */
export async function resetAnswer(call: AdminCall, kind: LimitKind): Promise<AdminAnswer> {
  const asked = await readSelection(call)
  if (!asked.ok) return asked.answer
  const { policy, key } = asked.value
  return answering(async () => {
    const reset = await call.backend.limits.reset({ kind, policy, key }, call.actor)
    return reset === null ? unknown(kind, policy) : jsonAnswer(200, { policy, key, reset })
  })
}

/** Sets the used count of a quota: `{"policy":"ID","key":"KEY","used":NUMBER}` */
export async function setQuotaAnswer(call: AdminCall): Promise<AdminAnswer> {
  const usage = 'send {"policy":"ID","key":"KEY","used":NUMBER}'
  const asked = await readJson(
    call,
    ['policy', 'key', 'used'],
    ({ policy, key, used }) => (isText(policy) && isKey(key) && isUsed(used) ? { policy, key, used } : null),
    usage,
  )
  if (!asked.ok) return asked.answer
  const { policy } = asked.value
  const change = { ...asked.value, actor: call.actor }
  return answering(async () => countsOf(await call.backend.limits.set(change), 'quota', policy))
}

/** Handles `GET /v1/bans`: all policies or `?policy=ID`. */
export function bansAnswer({ query, backend }: AdminCall): Promise<AdminAnswer> {
  const policy = query.get('policy')
  return answering(async () => {
    const bans = await backend.bans.list(policy)
    if (bans === null) return unknown('client-ban', policy ?? '')
    return jsonAnswer(200, { bans, isComplete: bans.length < MAX_BANS_SHOWN })
  })
}

/** Lifts bans: `{"policy":"ID"}`, or one key with `"key":"KEY"`. */
export async function liftAnswer(call: AdminCall): Promise<AdminAnswer> {
  const asked = await readSelection(call)
  if (!asked.ok) return asked.answer
  const { policy, key } = asked.value
  return answering(async () => {
    const lifted = await call.backend.bans.lift(policy, key, call.actor)
    return lifted === null ? unknown('client-ban', policy) : jsonAnswer(200, { policy, key, lifted })
  })
}

/** Reads the policy and key of a body; a null key means all keys. */
function readSelection(call: AdminCall) {
  const usage = 'send {"policy":"ID"} or {"policy":"ID","key":"KEY"}'
  return readJson(call, ['policy', 'key'], selectionIn, usage)
}

function selectionIn({ policy, key = null }: Members) {
  return isText(policy) && (key === null || isKey(key)) ? { policy, key } : null
}

function countsOf(counts: readonly LimitCount[] | null, kind: LimitKind, policy: string | null): AdminAnswer {
  if (counts === null) return unknown(kind, policy ?? '')
  return jsonAnswer(200, { counts, isComplete: counts.length < MAX_COUNTS })
}

function unknown(kind: LimitKind | 'client-ban', policy: string): AdminAnswer {
  return problemAnswer(
    'GW_ADMIN_NOT_FOUND',
    `no ${kind} with the id '${policy}' is active; use the policy's id, or ROUTE/POSITION for a policy defined inside a route`,
  )
}

async function answering(work: () => Promise<AdminAnswer>): Promise<AdminAnswer> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StateUnavailable)) throw error
    const detail = `the state server is unavailable: ${error.message}; until it is back, requests follow the policy's 'onStoreDown'`
    return problemAnswer('GW_ADMIN_STORE_UNAVAILABLE', detail)
  }
}

function isText(value: unknown): value is string {
  return isKey(value) && value !== ''
}

/** Returns true for a valid key. An empty one stands for requests without a key. */
function isKey(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT
}

function isUsed(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_USED
}
