import type { AdminCall } from './endpoint.js'
import { type AdminAnswer, jsonAnswer, problemAnswer } from './problem.js'
import { type Members, readJson } from './request-body.js'

const USAGE = 'send {"upstream":"NAME"} or {"upstream":"NAME","target":"URL"}'

/**
 * Drains targets or returns them to service: `{"upstream":"NAME","target":"URL"}`, or all targets without
 * one.
 */
export async function drainAnswer(call: AdminCall, isDrained: boolean): Promise<AdminAnswer> {
  const named = await readJson(call, ['upstream', 'target'], readTarget, USAGE)
  if (!named.ok) return named.answer
  const { upstream, target } = named.value
  if (!(await call.backend.drainTargets({ upstream, target, isDrained, actor: call.actor }))) {
    const urls = call.backend.targetsOf(upstream).map(({ origin }) => origin)
    const detail =
      urls.length === 0
        ? `no upstream '${upstream}' in the active plan; gw upstream list shows them`
        : `upstream '${upstream}' has no such target; its targets are ${urls.join(', ')}`
    return problemAnswer('GW_ADMIN_NOT_FOUND', detail)
  }
  return jsonAnswer(200, { upstream, targets: call.backend.targetsOf(upstream) })
}

function readTarget({ upstream, target = null }: Members) {
  if (typeof upstream !== 'string') return null
  return target === null || typeof target === 'string' ? { upstream, target } : null
}
