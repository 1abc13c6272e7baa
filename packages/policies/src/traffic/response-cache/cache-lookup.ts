import type { Exchange } from '@sluice/core'
import type { InFlightFetch, Waiter } from './in-flight-fetch.js'
import type { Recording } from './recording.js'
import type { RequestFacts } from './request-facts.js'
import type { StoredResponse } from './stored-response.js'
import type { Stamp } from './stored-text.js'

/** Reason for calling the upstream, in the terms of RFC 9211, 2.2. */
export type ForwardReason = 'bypass' | 'method' | 'request' | 'uri-miss' | 'vary-miss' | 'stale' | 'partial'

/** A request that the cache passes to the upstream. */
interface ForwardedRequest {
  readonly facts: RequestFacts
  readonly uri: string
  readonly key: string
  readonly reason: ForwardReason
  /** True if its response may be stored. */
  readonly mayKeep: boolean
  readonly epoch: number
}

/** State of a request that the cache passes to the upstream. */
export interface CacheLookup extends ForwardedRequest {
  /** Request fields at the time of the lookup. */
  readonly headers: readonly string[]
  readonly consumer: string | null
  /** Number of consumer identifications before the lookup. */
  readonly identifications: number
  /** Wall clock time in milliseconds. */
  readonly requestedAt: number
  /** Stale stored response, or null. */
  stored: StoredResponse | null
  /** True if the upstream was asked to validate `stored`. */
  isValidating: boolean
  /** True for a background refresh. No client gets its response. */
  isRefresh: boolean
  /** Set if other requests may wait for this response. */
  pending: InFlightFetch | null
  recording: Recording | null
  /** Stamp of the second tier, or null if it is not used. */
  stamp: Stamp | null
}

/** Creates the state of a request. */
export function openLookup(x: Exchange, forwarded: ForwardedRequest): CacheLookup {
  return {
    ...forwarded,
    headers: forwarded.mayKeep ? x.headers.slice() : x.headers,
    consumer: x.consumer?.id ?? null,
    identifications: x.identifications,
    requestedAt: Date.now(),
    ...{ stored: null, isValidating: false, isRefresh: false, pending: null, recording: null, stamp: null },
  }
}

/** A request that waits for the response of another one. */
export interface Wait {
  readonly pending: InFlightFetch
  readonly waiter: Waiter
}
