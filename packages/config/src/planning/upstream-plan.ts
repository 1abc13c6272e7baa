import { parseDuration, parseRatio, parseSize } from '@sluice/core'
import { isFlaw } from '../flaw.js'
import { parseHashKey } from '../grammar/grammars.js'
import { parseTargetUrl } from '../grammar/url.js'
import type { HashKey, RetryPlan, TargetPlan, TimeoutsPlan, UpstreamPlan, UpstreamTlsPlan } from '../plan.js'
import type { UpstreamDocument } from '../schema/document.js'
import { healthPlans } from './upstream-health-plan.js'

/** An upstream of the plan. */
export function upstreamPlan(name: string, upstream: UpstreamDocument): UpstreamPlan {
  return {
    name,
    targets: upstream.targets.map(targetPlan),
    balance: upstream.balance,
    hashOn: hashKeyOf(upstream.hashOn),
    connections: upstream.connections,
    maxPending: upstream.maxPending,
    pendingTimeoutMs: parseDuration(upstream.pendingTimeout),
    keepAliveMs: parseDuration(upstream.keepAlive),
    timeouts: timeoutsPlan(upstream.timeouts),
    retry: retryPlan(upstream.retry),
    ...healthPlans(upstream),
    tls: tlsPlan(upstream.tls),
    transport: upstream.transport,
    maxHeaderBytes: parseSize(upstream.maxHeaderBytes),
    responseBuffer: parseSize(upstream.responseBuffer),
  }
}

/** Timeouts in milliseconds. */
export function timeoutsPlan(timeouts: UpstreamDocument['timeouts']): TimeoutsPlan {
  return {
    connectMs: parseDuration(timeouts.connect),
    headersMs: parseDuration(timeouts.headers),
    idleMs: parseDuration(timeouts.idle),
    totalMs: parseDuration(timeouts.total),
  }
}

/** A URL that holds a reference stays as written; resolvePlan makes an origin of it. */
function targetPlan(target: UpstreamDocument['targets'][number]): TargetPlan {
  const { url, weight, role } =
    typeof target === 'string' ? { url: target, weight: 1, role: 'primary' } : target
  const origin = parseTargetUrl(url)
  return { url: isFlaw(origin) ? url : origin, weight, role: role === 'failover' ? 'failover' : 'primary' }
}

function hashKeyOf(text: string | undefined): HashKey | null {
  const key = text === undefined ? null : parseHashKey(text)
  if (isFlaw(key)) throw new Error(`unchecked hash key: ${key.message}`)
  return key
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
    insecure: tls.insecure,
  }
}
