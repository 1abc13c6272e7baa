import type { ErrorCode, PoolState } from '@sluice/core'
import type { BodyBlock } from '../../lib/body-block.js'
import type { Opening } from './opening.js'
import type { ReceivedHead } from './received-head.js'

/** A request as sent to a target. */
export interface UpstreamRequest {
  /** Exchange id, which is among the fields and needs no validation. */
  readonly id: string
  /** Value of the traceparent field that the gateway has generated. Empty or absent if there is none. */
  readonly traceparent?: string
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly host: string
  /** Flat list of end-to-end fields, without Host and framing. The transport does not change it. */
  readonly headers: readonly string[]
  /** Complete body, if it is not streamed. Null if there is none. */
  readonly body: BodyBlock | Buffer | null
  /** Streamed body, or null. */
  readonly upload: Upload | null
  /** Timeout in milliseconds for opening a connection: DNS, TCP and TLS together. */
  readonly connectMs: number
}

/** A streamed request body between the client and the target's connection. */
export interface Upload {
  /** Announced length, or -1 if unknown. */
  readonly length: number
  /** Adds a copy of the chunk. Returns false if the client should be paused until `onDrain`. */
  add(chunk: Uint8Array): boolean
  /**
   * Ends the body.
   * @param trailers trailer fields (RFC 9110 section 6.5), a flat list. Dropped if the protocol has none.
   */
  end(trailers?: readonly string[] | null): void
  destroy(): unknown
}

/** Reason for the failure of an attempt. */
export interface Failure {
  readonly code: ErrorCode
  /** Description without internal addresses. */
  readonly detail: string
  /**
   * Phase of the failure. `connect`: nothing was sent. `exchange`: the target may have seen the request. `unprocessed`:
   * the target has declared that it did not process the request.
   */
  readonly phase: 'connect' | 'exchange' | 'unprocessed'
}

/**
 * Receiver of the events of an attempt, in this order: started, head, data…, end | failure. A failure may occur at any
 * time, and nothing follows an end or a failure.
 */
export interface AttemptObserver {
  /**
   * Called when there is a connection and the request is being written. From now on, the target may see it.
   * @param opening how the connection was opened, or null if it is reused.
   */
  onStarted(opening: Opening | null): void
  /** Called with the final response head. 1xx responses are not reported. */
  onHead(head: ReceivedHead): void
  /** Called with body bytes, which are valid only during the call. */
  onData(chunk: Uint8Array): void
  /**
   * Called at the end of the response.
   * @param trailers fields after the body to forward, a flat list with names in lower case, or null.
   */
  onEnd(trailers: readonly string[] | null): void
  onFailure(failure: Failure): void
}

/** A request in progress at a target. */
export interface Attempt {
  /** Stops reading the response until `resume`. */
  pause(): void
  resume(): void
  /** Abandons the attempt and closes the connection. Nothing more is reported. */
  abort(): void
}

/** The connections to one target. */
export interface Transport {
  /** Number of times that an attempt had to wait in the queue for a connection. */
  readonly waits: number
  /** True if a new attempt would have to wait too long. */
  readonly isSlow: boolean
  /** Starts an attempt. Never throws. @param isFresh true to require a new connection. */
  dispatch(request: UpstreamRequest, observer: AttemptObserver, isFresh: boolean): Attempt
  createUpload(length: number, onDrain: () => void): Upload
  pool(): PoolState
  /** Waits for requests in progress, then closes the connections. */
  close(): Promise<void>
}
