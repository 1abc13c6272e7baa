import type { ListenerPlan, Plan, RoutePlan, UpstreamPlan } from '@sluice/config'
import type { Catalog } from '@sluice/core'
import { answersPreflights } from '../compile/chain-order.js'

/** Address from which the trial client connects, as a proxy that sends PROXY headers. */
export const CLIENT_ADDRESS = '127.0.0.99'

/** Returns a plan without external dependencies: no TLS files, name servers, stores or log targets. */
export function trialPlan(plan: Plan): Plan {
  return {
    ...plan,
    listeners: plan.listeners.map(trialListener),
    upstreams: plan.upstreams.map(trialUpstream),
    // Requests are recorded as for a file, which is never opened.
    log: { ...plan.log, sink: 'file', outputs: [] },
    overload: { ...plan.overload, maxLoopDelayMs: 0 },
    state: null,
    cache: null,
  }
}

function trialListener(plan: ListenerPlan): ListenerPlan {
  return {
    ...plan,
    address: '127.0.0.1:0',
    host: '127.0.0.1',
    port: 0,
    engine: 'node',
    tls: null,
    http2: null,
    // The client tells its address in a PROXY header.
    proxyProtocol: true,
    trustedProxies: [...plan.trustedProxies, CLIENT_ADDRESS],
  }
}

function trialUpstream(plan: UpstreamPlan): UpstreamPlan {
  return {
    ...plan,
    targets: plan.targets.map(({ service: _, ...target }) => ({ ...target, srv: null })),
    health: null,
    tls: null,
    proxy: null,
    resolve: null,
    http2: { alpn: false, priorKnowledge: false },
  }
}

/**
 * Returns a plan in which only some routes have policies, because compiling those of all routes for each case is slow.
 * Policies that answer preflights stay, because they take part in routing.
 */
export function withPoliciesOf(plan: Plan, routes: ReadonlySet<string>, catalog: Catalog): Plan {
  const keep = (route: RoutePlan): RoutePlan => {
    if (routes.has(route.id) || route.policies.length === 0) return route
    return { ...route, policies: route.policies.filter((use) => answersPreflights(use, catalog)) }
  }
  return { ...plan, routes: plan.routes.map(keep) }
}
