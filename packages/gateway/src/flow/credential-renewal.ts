import type { RejectedAnswer } from '@sluice/core'
import type { RejectedHook } from './chain.js'
import type { ExchangeFlow } from './exchange-flow.js'

/**
 * Returns true if a policy has other credentials for a target that rejected a request. A policy that throws counts as
 * having no others.
 */
export function renewCredentials(
  hooks: readonly RejectedHook[],
  flow: ExchangeFlow,
  { status, fields }: RejectedAnswer,
): boolean {
  let isRenewed = false
  for (const hook of hooks) {
    try {
      if (hook.run(flow.x, { status, fields })) isRenewed = true
    } catch (error) {
      const { id } = flow.route
      flow.context.report('policy_failed', { policy: hook.name, route: id, error: String(error) })
    }
  }
  return isRenewed
}
