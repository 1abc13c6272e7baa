import { type Exchange, type Reply, substitute } from '@sluice/core'
import { isNotModified, rangeOf } from './conditions.js'
import type { RequestFacts } from './request-facts.js'
import { ageOf, type StoredResponse } from './stored-response.js'

/** Fields that describe the body. Omitted from a 304, which has no body, and a 416, which has another one. */
const OF_BODY: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-language',
  'content-range',
  'content-type',
])
/** Empty body for a status that requires one. */
const NO_BODY = Buffer.alloc(0)

/** Name of this cache in the Cache-Status field (RFC 9211). */
export const CACHE_NAME = 'sluice'

/** Options for serving a stored response. */
export interface Serving {
  readonly now: number
  /** Cache-Status parameters after the cache name, or null to omit the field. */
  readonly status: string | null
}

/** Answers a request with a stored response: complete, one range of it, or 304 if the client has it. */
export function answerWith(stored: StoredResponse, facts: RequestFacts, { now, status }: Serving): Reply {
  const own = ['age', String(Math.floor(ageOf(stored, now) / 1000))]
  if (status !== null) own.push('cache-status', `${CACHE_NAME}; ${status}`)
  if (facts.isConditional) {
    if (stored.status >= 200 && stored.status < 300 && isNotModified(stored, facts))
      return substitute(304, withoutBody(stored).concat(own), null)
    const range = rangeOf(stored, facts)
    if (range === 'unsatisfiable') {
      const size = ['content-range', `bytes */${stored.body.length}`]
      return substitute(416, withoutBody(stored).concat(own, size), NO_BODY)
    }
    if (range !== null) {
      const { first, last } = range
      const part = ['content-range', `bytes ${first}-${last}/${stored.body.length}`]
      return substitute(206, stored.headers.concat(own, part), stored.body.subarray(first, last + 1))
    }
  }
  return substitute(stored.status, stored.headers.concat(own), stored.body)
}

/** Answers an unconditional request with a fresh stored response. @param showsStatus true to add Cache-Status */
export function hitWith(
  stored: StoredResponse,
  facts: RequestFacts,
  now: number,
  showsStatus: boolean,
): Reply {
  const age = Math.floor(ageOf(stored, now) / 1000)
  const ttl = ttlOf(stored, now)
  const last = stored.lastHit
  if (last !== null && last.age === age && last.ttl === ttl) return last.reply
  const reply = answerWith(stored, facts, { now, status: showsStatus ? `hit; ttl=${ttl}` : null })
  stored.lastHit = { age, ttl, reply }
  return reply
}

/** Returns the `ttl` parameter of Cache-Status, in whole seconds. */
export function ttlOf(stored: StoredResponse, now: number): number {
  return Math.floor((stored.freshness.lifetimeMs - ageOf(stored, now)) / 1000)
}

/** Adds this cache to the Cache-Status of an upstream response. */
export function addCacheStatus(x: Exchange, status: string): void {
  x.responseHeaders.push('cache-status', `${CACHE_NAME}; ${status}`)
}

function withoutBody({ headers }: StoredResponse): string[] {
  return headers.filter((_, i) => !OF_BODY.has(headers[i - (i % 2)]!))
}
