import type { ListenerPlan } from '@sluice/config'
import { compileCidrs } from '@sluice/core'
import type { ListenerSettings } from '../listen/listener.js'

/**
 * Returns the identity of a listener. It stays open across a reload while this is unchanged; the rest of its
 * plan is settings.
 */
export function keyOf(plan: ListenerPlan): string {
  return JSON.stringify([plan.address, plan.engine, plan.tls])
}

/** Returns a listener's settings, without the worker's descriptor limits. */
export function settingsOf(plan: ListenerPlan): ListenerSettings {
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
