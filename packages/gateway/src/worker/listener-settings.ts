import type { ListenerPlan, Plan } from '@sluice/config'
import { compileCidrs } from '@sluice/core'
import type { ListenerSettings } from '../listen/listener.js'
import { affordableConnections, divideDescriptors } from './descriptor-budget.js'

/**
 * Returns the identity of a listener. It stays open across a reload while this is unchanged; the rest of its
 * plan is settings.
 */
export function keyOf(plan: ListenerPlan): string {
  return JSON.stringify([plan.address, plan.engine, plan.tls])
}

/** Returns the listener settings of a plan, with connection limits reduced to the available descriptors. */
export function settingsWithin(
  plan: Plan,
  descriptors: number,
): (listener: ListenerPlan) => ListenerSettings {
  const budget = divideDescriptors(descriptors, plan)
  return (listener) => {
    const { limits } = listener
    return {
      ...settingsOf(listener),
      connections: affordableConnections(limits.connections, plan, budget),
      connectionsPerClient: affordableConnections(limits.connectionsPerClient, plan, budget),
    }
  }
}

/** Returns a listener's settings, without the worker's descriptor limits. */
function settingsOf(plan: ListenerPlan): ListenerSettings {
  return {
    ...plan.limits,
    trusted: plan.trustedProxies.length === 0 ? null : compileCidrs(plan.trustedProxies),
    proxyProtocol: plan.proxyProtocol,
    allowHalfClose: plan.allowHalfClose,
    forwardedHeader: plan.forwardedHeader,
    health: plan.health,
    paths: plan.paths,
    http2: plan.http2,
  }
}
