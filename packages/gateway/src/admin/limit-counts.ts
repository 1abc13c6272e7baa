import { type LimitKind, StateUnavailable } from '@sluice/core'
import { MAX_BANS_SHOWN } from '../supervise/limits/bans.js'
import { type LimitCount, MAX_COUNTS } from '../supervise/limits/limit-counters.js'
import type { AdminCall } from './endpoint.js'
import { type AdminAnswer, jsonAnswer, problemAnswer } from './problem.js'
import { readMembers } from './request-body.js'

/** Maximum length of an id or key. */
const MAX_TEXT = 8192
const MAX_USED = 1e12

/** Handles `GET /v1/limits` and `/v1/quotas`: all policies or `?policy=ID`, all keys or `&key=KEY`. */
export function countsAnswer(call: AdminCall, kind: LimitKind): Promise<AdminAnswer> {
  const policy = call.query.get('policy')
  const key = call.query.get('key')
  if (policy === null && key !== null) return refused('add the policy of the key: ?policy=ID&key=KEY')
  return answering(async () => countsOf(await call.backend.limits.get({ kind, policy, key }), kind, policy))
}

/** Resets counts: `{"policy":"ID"}`, or one key with `"key":"KEY"`. */
export async function resetAnswer(call: AdminCall, kind: LimitKind): Promise<AdminAnswer> {
  const asked = await readSelection(call)
  if ('answer' in asked) return asked.answer
  const { policy, key } = asked
  return answering(async () => {
    const reset = await call.backend.limits.reset({ kind, policy, key }, call.actor)
    return reset === null ? unknown(kind, policy) : jsonAnswer(200, { policy, key, reset })
  })
}

/** Sets the used count of a quota: `{"policy":"ID","key":"KEY","used":NUMBER}` */
export async function setQuotaAnswer(call: AdminCall): Promise<AdminAnswer> {
  const body = await call.body(['application/json'])
  if (!body.ok) return body.answer
  const { policy, key, used } = readOnly(body.text, ['policy', 'key', 'used']) ?? {}
  if (!isText(policy) || !isKey(key) || !isUsed(used)) {
    return refused('send {"policy":"ID","key":"KEY","used":NUMBER}')
  }
  const { actor } = call
  return answering(async () =>
    countsOf(await call.backend.limits.set({ policy, key, used, actor }), 'quota', policy),
  )
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
  if ('answer' in asked) return asked.answer
  const { policy, key } = asked
  return answering(async () => {
    const lifted = await call.backend.bans.lift(policy, key, call.actor)
    return lifted === null ? unknown('client-ban', policy) : jsonAnswer(200, { policy, key, lifted })
  })
}

/** Reads the policy and key of a body; a null key means all keys. */
async function readSelection(
  call: AdminCall,
): Promise<{ readonly policy: string; readonly key: string | null } | { readonly answer: AdminAnswer }> {
  const body = await call.body(['application/json'])
  if (!body.ok) return body
  const named = readOnly(body.text, ['policy', 'key'])
  const { policy, key = null } = named ?? {}
  if (isText(policy) && (key === null || isKey(key))) return { policy, key }
  return { answer: await refused('send {"policy":"ID"} or {"policy":"ID","key":"KEY"}') }
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

async function refused(detail: string): Promise<AdminAnswer> {
  return problemAnswer('GW_ADMIN_BAD_REQUEST', detail)
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

/** Returns the members of a JSON object that has only these names; null for anything else. */
function readOnly(text: string, names: readonly string[]): Readonly<Record<string, unknown>> | null {
  const members = readMembers(text)
  return members !== null && Object.keys(members).every((name) => names.includes(name)) ? members : null
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
