import { parseDuration, parseRatio, parseSize } from '@sluice/core'
import { isIssue } from '../diagnostic/issue.js'
import { parseServiceAddress } from '../grammar/kubernetes-service.js'
import { parseTarget } from '../grammar/target.js'
import type {
  ProxyPlan,
  ResolvePlan,
  RetryPlan,
  TargetPlan,
  TimeoutsPlan,
  UpstreamPlan,
  UpstreamTlsPlan,
} from '../plan/plan.js'
import type { UpstreamDocument } from '../schema/document.js'
import { healthPlans } from './upstream-health-plan.js'
import { canaryPlan, hashKeyOf, mirrorPlan, stickyPlan } from './upstream-share-plans.js'

/** Returns the plan of an upstream. */
export function upstreamPlan(name: string, upstream: UpstreamDocument): UpstreamPlan {
  return {
    name,
    targets: upstream.targets.map(targetPlan),
    balance: upstream.balance,
    hashOn: upstream.hashOn === undefined ? null : hashKeyOf(upstream.hashOn),
    sticky: stickyPlan(upstream.sticky),
    failoverBelow: parseRatio(upstream.failoverBelow),
    canary: canaryPlan(upstream.canary),
    mirror: mirrorPlan(upstream.mirror),
    connections: upstream.connections,
    maxPending: upstream.maxPending,
    pendingTimeoutMs: parseDuration(upstream.pendingTimeout),
    keepAliveMs: parseDuration(upstream.keepAlive),
    timeouts: timeoutsPlan(upstream.timeouts),
    retry: retryPlan(upstream.retry),
    ...healthPlans(upstream),
    tls: tlsPlan(upstream.tls),
    proxy: proxyPlan(upstream.proxy),
    resolve: resolvePlan(upstream.resolve),
    transport: upstream.transport,
    http2: upstream.http2,
    maxHeaderBytes: parseSize(upstream.maxHeaderBytes),
    responseBufferBytes: parseSize(upstream.responseBufferBytes),
  }
}

/** Converts timeouts to milliseconds. */
export function timeoutsPlan(timeouts: UpstreamDocument['timeouts']): TimeoutsPlan {
  return {
    connectMs: parseDuration(timeouts.connect),
    headersMs: parseDuration(timeouts.headers),
    idleMs: parseDuration(timeouts.idle),
    totalMs: parseDuration(timeouts.total),
  }
}

const PLAIN_TARGET = { srv: undefined, service: undefined, weight: 1, role: 'primary', priority: 1 } as const

/**
 * Returns the plan of a target. A URL with a reference stays as written until resolvePlan converts it to an
 * origin.
 */
function targetPlan(target: UpstreamDocument['targets'][number]): TargetPlan {
  const written = typeof target === 'string' ? { ...PLAIN_TARGET, url: target } : target
  const { url, srv = null, weight, role, priority } = written
  const address = parseTarget(url)
  const own = written.service === undefined ? undefined : parseServiceAddress(written.service)
  const { origin, service } = isIssue(address) ? { origin: url, service: undefined } : address
  const followed = own === undefined || isIssue(own) ? service : own
  const plan = { url: origin, srv, weight, role, priority }
  return followed === undefined ? plan : { ...plan, service: followed }
}

function proxyPlan(proxy: UpstreamDocument['proxy']): ProxyPlan | null {
  if (proxy === undefined) return null
  return { url: proxy.url, username: proxy.username ?? null, password: proxy.password ?? null }
}

function resolvePlan(resolve: UpstreamDocument['resolve']): ResolvePlan | null {
  if (resolve === undefined) return null
  const { servers, minTtl, maxTtl } = resolve
  return { servers, minTtlMs: parseDuration(minTtl), maxTtlMs: parseDuration(maxTtl) }
}

function retryPlan({ attempts, budget, on, backoff, maxBackoff }: UpstreamDocument['retry']): RetryPlan {
  return {
    attempts,
    budget: parseRatio(budget),
    on,
    backoffMs: parseDuration(backoff),
    maxBackoffMs: parseDuration(maxBackoff),
  }
}

function tlsPlan(tls: UpstreamDocument['tls']): UpstreamTlsPlan | null {
  if (tls === undefined) return null
  return {
    caFile: tls.caFile ?? null,
    certFile: tls.certFile ?? null,
    keyFile: tls.keyFile ?? null,
    servername: tls.servername ?? null,
    minVersion: tls.minVersion,
    pins: tls.pins,
    insecure: tls.insecure,
  }
}
