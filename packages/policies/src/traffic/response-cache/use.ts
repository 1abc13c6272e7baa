import type { CacheControl } from '../../shared/message/cache-control.js'
import { ageOf, type StoredResponse } from './stored-response.js'

/**
 * Use of a stored response: serve it fresh, serve it stale, serve it while refreshing, or call the upstream.
 */
export type Use = 'fresh' | 'stale' | 'refresh' | 'forward'

/**
 * Returns the allowed use of a stored response (RFC 9111, 4.2 and 5.2.1; RFC 5861, 3).
 * @param control directives of the request, or null to ignore them.
 */
export function allowedUse(stored: StoredResponse, control: CacheControl | null, now: number): Use {
  const { lifetimeMs, isAlwaysValidated, mustRevalidate, staleWhileRevalidateMs } = stored.freshness
  if (isAlwaysValidated || control?.has('no-cache') === true) return 'forward'
  const age = ageOf(stored, now)
  const maxAge = control?.seconds('max-age') ?? null
  if (maxAge !== null && age > maxAge * 1000 - (maxAge === 0 ? 1 : 0)) return 'forward'
  const minFresh = control?.seconds('min-fresh') ?? null
  if (minFresh !== null && lifetimeMs - age < minFresh * 1000) return 'forward'
  const staleMs = age - lifetimeMs
  if (staleMs < 0) return 'fresh'
  if (mustRevalidate) return 'forward'
  if (control !== null && staleMs <= maxStaleMs(control)) return 'stale'
  return staleMs <= staleWhileRevalidateMs && staleWhileRevalidateMs > 0 ? 'refresh' : 'forward'
}

/** Returns the allowed staleness. `max-stale` without a value allows any (RFC 9111, 5.2.1.2). */
function maxStaleMs(control: CacheControl): number {
  if (control.hasWhole('max-stale')) return Number.POSITIVE_INFINITY
  return (control.seconds('max-stale') ?? -1) * 1000
}
