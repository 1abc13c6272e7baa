import type { ErrorCode, PoolState } from '@sluice/core'
import type { Opening } from './opening.js'
import type { ReceivedHead } from './received-head.js'

/** One request as it goes to a target. */
export interface UpstreamRequest {
  /** The exchange's id, which stands among the fields and need not be checked. */
  readonly id: string
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** The Host field. */
  readonly host: string
  /** Flat list of end-to-end fields, without Host and framing. The transport does not change it. */
  readonly headers: readonly string[]
  /** All of the body, a small one as text of one byte a character; null when there is none or it is streamed. */
  readonly body: Buffer | string | null
  /** The body as it arrives; null when there is none or it is whole. */
  readonly upload: Upload | null
  /** For a connection that has to be opened: the name, the TCP and the TLS handshake together, ms. */
  readonly connectMs: number
}

/** A request body on its way, from the client's stream to the target's connection. */
export interface Upload {
  /** Its announced length, -1 when unknown. */
  readonly length: number
  /** Takes a copy of the chunk. False: stop reading from the client until `onUploadDrain`. */
  add(chunk: Uint8Array): boolean
  /** @param trailers fields after the body (RFC 9110 section 6.5), a flat list; dropped where the way to the target has none. */
  end(trailers?: readonly string[] | null): void
  destroy(): unknown
}

/** Why an attempt failed. */
export interface Failure {
  readonly code: ErrorCode
  /** What happened, without addresses of the inside. */
  readonly detail: string
  /**
   * `connect`: nothing was sent; `exchange`: the target may have seen the request; `unprocessed`: it has, and says that
   * it has not acted on it.
   */
  readonly phase: 'connect' | 'exchange' | 'unprocessed'
}

/**
 * Hears of one attempt. The calls come in this order: started, head, data…, end | failure; a failure may come at any
 * time, and nothing comes after end or failure.
 */
export interface AttemptObserver {
  /**
   * There is a connection and the request is being written to it: from now on the target may see it.
   * @param opening how the connection came about; null when it has served another request before.
   */
  onStarted(opening: Opening | null): void
  /** 1xx responses are not reported. */
  onHead(head: ReceivedHead): void
  /** The chunk is only valid during the call. */
  onData(chunk: Uint8Array): void
  /** @param trailers fields after the body that may go on to the client, a flat list, names in lower case; null: none. */
  onEnd(trailers: readonly string[] | null): void
  onFailure(failure: Failure): void
}

/** One request under way at a target. */
export interface Attempt {
  /** Stops reading the response from the target until `resume`. */
  pause(): void
  resume(): void
  /** Gives up; nothing more is reported. The connection is closed. */
  abort(): void
}

/** Connections to one target. */
export interface Transport {
  /** Times that an attempt had to wait in the queue, because there was no connection for it and could not be one more. */
  readonly waits: number
  /** Who came now would have to wait for too long. */
  readonly isSlow: boolean
  /** Starts an attempt. `isFresh` asks for a new connection instead of a kept one. Never throws. */
  dispatch(request: UpstreamRequest, observer: AttemptObserver, isFresh: boolean): Attempt
  createUpload(length: number, onDrain: () => void): Upload
  pool(): PoolState
  /** Waits for requests under way, then closes the connections. */
  close(): Promise<void>
}
