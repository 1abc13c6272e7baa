import type { Exchange } from '@sluice/core'
import type { InFlightFetch, Waiter } from './in-flight-fetch.js'
import type { Recording } from './recording.js'
import type { RequestFacts } from './request-facts.js'
import type { StoredResponse } from './stored-response.js'
import type { Stamp } from './stored-text.js'

/** Reason for calling the upstream, in the terms of RFC 9211, 2.2. */
export type ForwardReason = 'bypass' | 'method' | 'request' | 'uri-miss' | 'vary-miss' | 'stale' | 'partial'

/** State of a request that the cache passes to the upstream. */
export class CacheLookup {
  readonly facts: RequestFacts
  readonly uri: string
  readonly key: string
  readonly reason: ForwardReason
  /** True if its response may be stored. */
  readonly mayKeep: boolean
  /** Request fields at the time of the lookup. */
  readonly headers: readonly string[]
  readonly consumer: string | null
  /** Number of consumer identifications before the lookup. */
  readonly identifications: number
  /** Wall clock time in milliseconds. */
  readonly requestedAt: number
  readonly epoch: number
  /** Stale stored response, or null. */
  stored: StoredResponse | null = null
  /** True if the upstream was asked to validate `stored`. */
  isValidating = false
  /** True for a background refresh. No client gets its response. */
  isRefresh = false
  /** Set if other requests may wait for this response. */
  pending: InFlightFetch | null = null
  recording: Recording | null = null
  /** Stamp of the second tier, or null if it is not used. */
  stamp: Stamp | null = null

  constructor(
    x: Exchange,
    {
      facts,
      uri,
      key,
      reason,
      mayKeep,
      epoch,
    }: Pick<CacheLookup, 'facts' | 'uri' | 'key' | 'reason' | 'mayKeep' | 'epoch'>,
  ) {
    this.facts = facts
    this.uri = uri
    this.key = key
    this.reason = reason
    this.mayKeep = mayKeep
    this.epoch = epoch
    this.headers = mayKeep ? x.headers.slice() : x.headers
    this.consumer = x.consumer?.id ?? null
    this.identifications = x.identifications
    this.requestedAt = Date.now()
  }
}

/** A request that waits for the response of another one. */
export interface Wait {
  readonly pending: InFlightFetch
  readonly waiter: Waiter
}
