import type { Exchange } from '@sluice/core'
import type { Flight, Waiter } from './flight.js'
import type { Recording } from './recording.js'
import type { RequestFacts } from './request-facts.js'
import type { StoredResponse } from './stored-response.js'
import type { Stamp } from './stored-text.js'

/** Why a request goes to the upstream, in the words of RFC 9211, 2.2. */
export type ForwardReason = 'bypass' | 'method' | 'request' | 'uri-miss' | 'vary-miss' | 'stale' | 'partial'

/** What the cache knows of a request that goes to the upstream. */
export class Visit {
  readonly facts: RequestFacts
  readonly uri: string
  readonly key: string
  readonly reason: ForwardReason
  /** Its response may be kept. */
  readonly mayKeep: boolean
  /** The request fields, as they were when the response was looked for. */
  readonly headers: readonly string[]
  readonly consumer: string | null
  /** How many policies had named a consumer before. */
  readonly identifications: number
  /** Wall clock, ms. */
  readonly requestedAt: number
  readonly epoch: number
  /** What is stored and no longer fresh; null: nothing. */
  stored: StoredResponse | null = null
  /** The upstream was asked whether `stored` still holds. */
  isValidating = false
  /** It is the gateway's own: nobody gets its response. */
  isRefresh = false
  /** Others wait for its response. */
  flight: Flight | null = null
  recording: Recording | null = null
  /** Of the second tier; null: it is not used. */
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
    }: Pick<Visit, 'facts' | 'uri' | 'key' | 'reason' | 'mayKeep' | 'epoch'>,
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

/** A request that waits for the response of another. */
export interface Wait {
  readonly flight: Flight
  readonly waiter: Waiter
}
