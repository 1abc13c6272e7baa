import { parseDuration, parseRatio } from '@sluice/core'
import type { BreakerPlan, HealthPlan, OutlierPlan, UpstreamPlan, WindowPlan } from '../plan/plan.js'
import type { UpstreamDocument } from '../schema/document.js'

type HealthParts = Pick<UpstreamPlan, 'breaker' | 'outlier' | 'health' | 'panicMode'>
type Document<Key extends keyof UpstreamDocument> = NonNullable<UpstreamDocument[Key]>

/** Returns the settings that decide which targets receive requests. */
export function healthPlans({ breaker, outlier, health, panicMode }: UpstreamDocument): HealthParts {
  return {
    breaker: breaker === undefined ? null : breakerPlan(breaker),
    outlier: outlier === undefined ? null : outlierPlan(outlier),
    health: health === undefined ? null : healthPlan(health),
    panicMode,
  }
}

function windowPlan(part: Document<'breaker'> | Document<'outlier'>): WindowPlan {
  return {
    windowMs: parseDuration(part.window),
    minRequests: part.minRequests,
    failureRatio: parseRatio(part.failureRatio),
    slowAfterMs: part.slowAfter === undefined ? null : parseDuration(part.slowAfter),
  }
}

function breakerPlan(breaker: Document<'breaker'>): BreakerPlan {
  return {
    ...windowPlan(breaker),
    slowRatio: parseRatio(breaker.slowRatio),
    openMs: parseDuration(breaker.openFor),
    maxOpenMs: parseDuration(breaker.maxOpenFor),
    probes: breaker.probes,
  }
}

function outlierPlan(outlier: Document<'outlier'>): OutlierPlan {
  return {
    ...windowPlan(outlier),
    consecutiveFailures: outlier.consecutiveFailures,
    ejectMs: parseDuration(outlier.ejectFor),
    maxEjectMs: parseDuration(outlier.maxEjectFor),
    maxEjected: parseRatio(outlier.maxEjected),
  }
}

function healthPlan(health: Document<'health'>): HealthPlan {
  return {
    path: health.path,
    intervalMs: parseDuration(health.interval),
    jitter: parseRatio(health.jitter),
    timeoutMs: parseDuration(health.timeout),
    unhealthyAfter: health.unhealthyAfter,
    healthyAfter: health.healthyAfter,
    statuses: health.statuses.map(statusRange),
    body: health.body ?? null,
    bodyPattern: health.bodyPattern ?? null,
    host: health.host ?? null,
    headers: Object.entries(health.headers),
  }
}

function statusRange(written: number | string): readonly [number, number] {
  const [first, last = first] = String(written).split('-').map(Number)
  return [first!, last!]
}
