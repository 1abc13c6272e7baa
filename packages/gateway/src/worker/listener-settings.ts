import type { ListenerPlan } from '@sluice/config'
import { compileCidrs } from '@sluice/core'
import type { ListenerSettings } from '../data-plane/listener/listener.js'

/** A listener stays open across a reload while these stay the same; the rest of its plan is settings. */
export function keyOf(plan: ListenerPlan): string {
  return JSON.stringify([plan.address, plan.engine, plan.tls])
}

/** What a listener accepts, without what a worker has room for. */
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
