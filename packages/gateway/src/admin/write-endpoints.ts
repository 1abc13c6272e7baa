import { type LimitKind, parseDuration } from '@sluice/core'
import type { WriteRequest } from '../supervise/admin-backend.js'
import type { ApplyResult, ConfirmActivation } from '../supervise/rollout/apply-result.js'
import { drainAnswer } from './drain-targets.js'
import type { AdminCall, Endpoint } from './endpoint.js'
import { liftAnswer, resetAnswer, setQuotaAnswer } from './limit-counts.js'
import { type AdminAnswer, jsonAnswer, problemAnswer } from './problem.js'
import { type Members, readJson } from './request-body.js'
import { purgeAnswer } from './stored-responses.js'

const DOCUMENT_TYPES = ['application/yaml', 'application/json', 'text/yaml']
const MAX_NOTE_CHARS = 500
const MIN_HOLD_MS = 1000
const MAX_HOLD_MS = 300_000
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
])

/** Endpoints that change the gateway. */
export const WRITE_ENDPOINTS: readonly Endpoint[] = [
  { method: 'PUT', path: '/v1/config', access: 'admin', answer: putConfig },
  { method: 'POST', path: '/v1/config/activate', access: 'admin', answer: (call) => postSettle(call, true) },
  { method: 'POST', path: '/v1/config/discard', access: 'admin', answer: (call) => postSettle(call, false) },
  { method: 'POST', path: '/v1/rollback', access: 'admin', answer: postRollback },
  { method: 'POST', path: '/v1/drain', access: 'operator', answer: postDrain },
  { method: 'POST', path: '/v1/upgrade', access: 'admin', answer: postUpgrade },
  { method: 'POST', path: '/v1/cache/purge', access: 'operator', answer: purgeAnswer },
  drainEndpoint('/v1/upstreams/drain', true),
  drainEndpoint('/v1/upstreams/undrain', false),
  resetEndpoint('/v1/limits/reset', 'rate-limit'),
  resetEndpoint('/v1/quotas/reset', 'quota'),
  { method: 'POST', path: '/v1/bans/lift', access: 'operator', answer: liftAnswer },
  { method: 'POST', path: '/v1/quotas/set', access: 'operator', answer: setQuotaAnswer },
]

function resetEndpoint(path: string, kind: LimitKind): Endpoint {
  return { method: 'POST', path, access: 'operator', answer: (call) => resetAnswer(call, kind) }
}

function drainEndpoint(path: string, isDrained: boolean): Endpoint {
  return { method: 'POST', path, access: 'operator', answer: (call) => drainAnswer(call, isDrained) }
}

async function putConfig(call: AdminCall): Promise<AdminAnswer> {
  const body = await call.body(DOCUMENT_TYPES)
  if (!body.ok) return body.answer
  const request = writeRequest(call, call.query.get('note') ?? '')
  if (typeof request === 'string') return problemAnswer('GW_ADMIN_BAD_REQUEST', request)
  const { backend } = call
  const hold = call.query.get('hold')
  if (hold === null || request.dryRun) return applyAnswer(await backend.apply(body.text, request))
  const holdMs = holdTime(hold)
  if (holdMs === null)
    return problemAnswer('GW_ADMIN_BAD_REQUEST', 'hold must be a duration from 1s to 5m, such as 30s')
  const apply = (confirm: ConfirmActivation) => backend.apply(body.text, { ...request, confirm })
  return applyAnswer(await backend.held.prepare(apply, holdMs))
}

/** Parses the hold time of a prepared document in milliseconds; null if invalid. */
function holdTime(text: string): number | null {
  try {
    const ms = parseDuration(text)
    return ms >= MIN_HOLD_MS && ms <= MAX_HOLD_MS ? ms : null
  } catch {
    return null
  }
}

/** Activates or discards the document that was prepared with `hold`. */
async function postSettle(call: AdminCall, isActivated: boolean): Promise<AdminAnswer> {
  const asked = await readJson(
    call,
    ['digest'],
    ({ digest }) => (typeof digest === 'string' ? digest : null),
    'send {"digest":"DIGEST"}',
  )
  if (!asked.ok) return asked.answer
  const digest = asked.value
  const result = await call.backend.held.settle(digest, isActivated)
  if (result === null)
    return problemAnswer('GW_ADMIN_NOT_FOUND', 'no held document with this digest; it may have expired')
  return isActivated ? applyAnswer(result) : jsonAnswer(200, { result: 'discarded', digest })
}

async function postRollback(call: AdminCall): Promise<AdminAnswer> {
  const usage = 'send {} or {"to":"DEPLOY ID","note":"TEXT"}'
  const asked = await readJson(call, ['to', 'note'], rollbackOptions, usage)
  if (!asked.ok) return asked.answer
  const { to, note } = asked.value
  const request = writeRequest(call, note)
  if (typeof request === 'string') return problemAnswer('GW_ADMIN_BAD_REQUEST', request)
  const result = await call.backend.rollback(to, request)
  if (result !== null) return applyAnswer(result)
  const detail =
    to === null
      ? 'there is no earlier deploy, or it was rolled back and needs its id; see GET /v1/deploys'
      : `there is no deploy '${to}'; see GET /v1/deploys`
  return problemAnswer('GW_ADMIN_NOT_FOUND', detail)
}

function postDrain(call: AdminCall): AdminAnswer {
  call.backend.drain(call.actor)
  return jsonAnswer(202, { draining: true })
}

async function postUpgrade(call: AdminCall): Promise<AdminAnswer> {
  const result = await call.backend.succession.upgrade(call.actor)
  if (!result.ok) return problemAnswer('GW_ADMIN_UPGRADE_FAILED', result.reason)
  const { pid, version, durationMs } = result
  return jsonAnswer(200, { pid, version, durationMs })
}

/** Returns the options of a write request, or an error text. */
function writeRequest(call: AdminCall, note: string): WriteRequest | string {
  const field = call.header('if-match')
  const tag = /^"([0-9a-f]{1,128})"$/.exec(field)?.[1] ?? null
  if (field !== '' && field !== '*' && tag === null)
    return 'If-Match must be * or the ETag of GET /v1/plan, in double quotes'
  const dryRun = FLAGS.get(call.query.get('dryRun') ?? '0')
  // A caller who sends `dryRun=yes` wants to change nothing, so do not guess and deploy.
  if (dryRun === undefined) return 'dryRun must be 1, true, 0 or false'
  const save = FLAGS.get(call.query.get('save') ?? '0')
  if (save === undefined) return 'save must be 1, true, 0 or false'
  const force = FLAGS.get(call.query.get('force') ?? '0')
  if (force === undefined) return 'force must be 1, true, 0 or false'
  const request = { dryRun, ifMatch: tag, note: note.slice(0, MAX_NOTE_CHARS), actor: call.actor }
  return { ...request, ...(save ? { save } : {}), ...(force ? { force } : {}) }
}

function applyAnswer(result: ApplyResult): AdminAnswer {
  switch (result.result) {
    case 'applied':
    case 'unchanged':
    case 'valid':
    case 'prepared':
      return jsonAnswer(200, result)
    case 'invalid': {
      const { diagnostics } = result
      const detail = `${diagnostics.length} errors; nothing was changed`
      return problemAnswer('GW_ADMIN_DOCUMENT_INVALID', detail, {
        members: { result: 'invalid', diagnostics },
      })
    }
    case 'rolled-back': {
      const detail = 'a worker could not prepare the plan; the previous one stays active everywhere'
      return problemAnswer('GW_ADMIN_ROLLED_BACK', detail, { members: { ...result } })
    }
    case 'stale': {
      const detail = 'the active plan is not the one in If-Match; read GET /v1/plan and try again'
      return problemAnswer('GW_ADMIN_STALE', detail, { members: { digest: result.digest } })
    }
    case 'controlled': {
      const { group } = result
      const detail = `the configuration comes from group '${group}' of a controller: deploy with gw deploy --group ${group}, or replace it here until the next deploy or a restart with --force (without --save)`
      return problemAnswer('GW_ADMIN_CONTROLLED', detail, { members: { group } })
    }
    case 'busy':
      return problemAnswer('GW_ADMIN_BUSY', 'too many deploys are waiting; try again', {
        headers: { 'retry-after': '1' },
      })
    case 'draining':
      return problemAnswer('GW_ADMIN_NOT_READY', 'the gateway is draining and accepts no more documents')
  }
}

function rollbackOptions({ to = null, note = '' }: Members) {
  return typeof note === 'string' && (to === null || typeof to === 'string') ? { to, note } : null
}
