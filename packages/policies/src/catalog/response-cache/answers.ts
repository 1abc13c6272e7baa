import { type Exchange, type Reply, substitute } from '@sluice/core'
import { isNotModified, rangeOf } from './conditions.js'
import type { RequestFacts } from './request-facts.js'
import type { StoredResponse } from './stored-response.js'

/** Of a representation whose body is not sent: a 304 has none, a 416 another one. */
const OF_BODY: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-language',
  'content-range',
  'content-type',
])
/** A body that says nothing, of a status that has one. */
const NO_BODY = Buffer.alloc(0)

/** How the Cache-Status field names this cache (RFC 9211). */
export const CACHE_NAME = 'sluice'

/** What a stored response is served as. */
export interface Serving {
  readonly now: number
  /** Of Cache-Status, behind the name of the cache; null: it is not shown. */
  readonly status: string | null
}

/** Answers a request with a stored response: whole, a part of it, or 304 for a client that has it. */
export function answerWith(stored: StoredResponse, facts: RequestFacts, { now, status }: Serving): Reply {
  const own = ['age', String(Math.floor(stored.ageAt(now) / 1000))]
  if (status !== null) own.push('cache-status', `${CACHE_NAME}; ${status}`)
  if (facts.isConditional) {
    if (isSuccess(stored.status) && isNotModified(stored, facts))
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

/** `ttl` of Cache-Status, in whole seconds. */
export function ttlOf(stored: StoredResponse, now: number): number {
  return Math.floor((stored.freshness.lifetimeMs - stored.ageAt(now)) / 1000)
}

/** Adds this cache to the Cache-Status of a response from the upstream. */
export function addCacheStatus(x: Exchange, status: string): void {
  x.responseHeaders.push('cache-status', `${CACHE_NAME}; ${status}`)
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

function withoutBody({ headers }: StoredResponse): string[] {
  return headers.filter((_, i) => !OF_BODY.has(headers[i - (i % 2)]!))
}
