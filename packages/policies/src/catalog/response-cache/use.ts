import type { CacheControl } from '../../shared/cache-control.js'
import type { StoredResponse } from './stored-response.js'

/** What becomes of a stored response: it answers; it answers while a new one is asked for; the upstream is asked. */
export type Use = 'fresh' | 'stale' | 'refresh' | 'forward'

/**
 * How a stored response may be used (RFC 9111, 4.2 and 5.2.1; RFC 5861, 3).
 * @param control of the request; null: it has no say.
 */
export function judge(stored: StoredResponse, control: CacheControl | null, now: number): Use {
  const { lifetimeMs, isAlwaysValidated, mustRevalidate, staleWhileRevalidateMs } = stored.freshness
  if (isAlwaysValidated || control?.has('no-cache') === true) return 'forward'
  const age = stored.ageAt(now)
  const maxAge = control?.seconds('max-age') ?? null
  if (maxAge !== null && age > maxAge * 1000 - (maxAge === 0 ? 1 : 0)) return 'forward'
  const minFresh = control?.seconds('min-fresh') ?? null
  if (minFresh !== null && lifetimeMs - age < minFresh * 1000) return 'forward'
  const staleMs = age - lifetimeMs
  if (staleMs < 0) return 'fresh'
  if (mustRevalidate) return 'forward'
  if (control !== null && staleMs <= mostStaleMs(control)) return 'stale'
  return staleMs <= staleWhileRevalidateMs && staleWhileRevalidateMs > 0 ? 'refresh' : 'forward'
}

/** Without a value `max-stale` takes a response of any age (RFC 9111, 5.2.1.2). */
function mostStaleMs(control: CacheControl): number {
  if (control.hasWhole('max-stale')) return Number.POSITIVE_INFINITY
  return (control.seconds('max-stale') ?? -1) * 1000
}
