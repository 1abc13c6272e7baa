import type { AdminCall } from './endpoint.js'
import { type AdminAnswer, jsonAnswer, problemAnswer } from './problem.js'
import { readMembers } from './request-body.js'

/**
 * Drains targets or returns them to service: `{"upstream":"NAME","target":"URL"}`, or all targets without
 * one.
 */
export async function drainAnswer(call: AdminCall, isDrained: boolean): Promise<AdminAnswer> {
  const body = await call.body(['application/json'])
  if (!body.ok) return body.answer
  const named = readTarget(body.text)
  if (named === null) {
    const detail = 'send {"upstream":"NAME"} or {"upstream":"NAME","target":"URL"}'
    return problemAnswer('GW_ADMIN_BAD_REQUEST', detail)
  }
  const { upstream, target } = named
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

function readTarget(text: string): { readonly upstream: string; readonly target: string | null } | null {
  const { upstream, target = null, ...more } = readMembers(text) ?? {}
  if (Object.keys(more).length > 0 || typeof upstream !== 'string') return null
  return target === null || typeof target === 'string' ? { upstream, target } : null
}
