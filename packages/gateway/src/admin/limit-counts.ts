import { type LimitKind, StateUnavailable } from '@sluice/core'
import { MAX_BANS_SHOWN } from '../supervisor/limits/bans.js'
import { type LimitCount, MAX_COUNTS } from '../supervisor/limits/limit-counters.js'
import type { AdminCall } from './endpoint.js'
import { type AdminAnswer, jsonAnswer, problemAnswer } from './problem.js'
import { readMembers } from './request-body.js'

/** Longest id or key that is looked for. */
const MAX_TEXT = 8192
const MAX_USED = 1e12

/** `GET /v1/limits` and `/v1/quotas`, of all policies or of `?policy=ID`, of all keys or of `&key=KEY`. */
export function countsAnswer(call: AdminCall, kind: LimitKind): Promise<AdminAnswer> {
  const policy = call.query.get('policy')
  const key = call.query.get('key')
  if (policy === null && key !== null) return refused('name the policy of the key')
  return answering(async () => countsOf(await call.backend.limits.get({ kind, policy, key }), kind, policy))
}

/** `{"policy":"ID"}`, or one key of it with `"key":"KEY"`. */
export async function resetAnswer(call: AdminCall, kind: LimitKind): Promise<AdminAnswer> {
  const asked = await readSelection(call)
  if ('answer' in asked) return asked.answer
  const { policy, key } = asked
  return answering(async () => {
    const reset = await call.backend.limits.reset({ kind, policy, key }, call.actor)
    return reset === null ? unknown(kind, policy) : jsonAnswer(200, { policy, key, reset })
  })
}

/** `{"policy":"ID","key":"KEY","used":NUMBER}` */
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

/** `GET /v1/bans`, of all policies or of `?policy=ID`. */
export function bansAnswer({ query, backend }: AdminCall): Promise<AdminAnswer> {
  const policy = query.get('policy')
  return answering(async () => {
    const bans = await backend.bans.list(policy)
    if (bans === null) return unknown('client-ban', policy ?? '')
    return jsonAnswer(200, { bans, isComplete: bans.length < MAX_BANS_SHOWN })
  })
}

/** `{"policy":"ID"}`, or one caller of it with `"key":"KEY"`. */
export async function liftAnswer(call: AdminCall): Promise<AdminAnswer> {
  const asked = await readSelection(call)
  if ('answer' in asked) return asked.answer
  const { policy, key } = asked
  return answering(async () => {
    const lifted = await call.backend.bans.lift(policy, key, call.actor)
    return lifted === null ? unknown('client-ban', policy) : jsonAnswer(200, { policy, key, lifted })
  })
}

/** The policy that a body names, and its key; null: all keys. */
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
    `no ${kind} with the id '${policy}' serves; its id stands in the document, or is ROUTE/PLACE where the policy is written in a route`,
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
    const detail = `the server of 'state' is not in use: ${error.message}; requests go on as 'onStoreDown' of the policy says`
    return problemAnswer('GW_ADMIN_STORE_UNAVAILABLE', detail)
  }
}

/** The members of an object that has no others; null for anything else. */
function readOnly(text: string, names: readonly string[]): Readonly<Record<string, unknown>> | null {
  const members = readMembers(text)
  return members !== null && Object.keys(members).every((name) => names.includes(name)) ? members : null
}

function isText(value: unknown): value is string {
  return isKey(value) && value !== ''
}

/** Empty: the requests without a key. */
function isKey(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT
}

function isUsed(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_USED
}
