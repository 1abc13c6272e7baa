import type { ListenerPlan } from '@sluice/config'
import type { CidrSet, ClientPace, Exchange, Reply } from '@sluice/core'
import type { FrameEnd } from '../protocol/websocket/frame-end.js'

/**
 * The client's side of one exchange, as the pipeline sees it, independent of the engine.
 *
 *     head received ─► RequestHandler.accept(x, client) ─► readBody(receiver) ─► chunks ─► receiver
 *     client.send(…)                                  a complete response
 *     client.start(…), write(…)…, end()               a streamed response; write returns false if the client is slow
 *     client.abort()                                  cut the connection, so that the client sees a truncated body
 *
 * No more methods may be called after `end`, `send` or `abort`, or after the owner's `onClientAbort`.
 */
export interface ClientStream {
  /** Receiver of client events. Set before `accept` returns. */
  owner: ClientOwner | null
  /** True if the response carries `Connection: close` and the connection closes afterwards. Never reset to false. */
  closeAfter: boolean
  /** True if the connection is gone and nothing can be sent. */
  readonly isGone: boolean
  /** WebSocket upgrade that the client asks for, or null. */
  readonly upgrade: UpgradeOffer | null
  /** True if the client waits for `100 Continue`, which `readBody` sends (RFC 9110 section 10.1.1). */
  readonly waitsToContinue: boolean
  /** Starts delivering the request body, from the first byte. Called at most once. */
  readBody(receiver: BodyReceiver): void
  /** Stops reading from the client. Chunks already read may still arrive. */
  pauseBody(): void
  resumeBody(): void
  /**
   * Sends a complete response. The body is copied if it has to wait.
   * @param headers flat list without framing fields.
   */
  send(status: number, headers: readonly string[], body: Uint8Array | string | null): void
  /**
   * Sends a response without a body: to HEAD, or with a status such as 204 or 304.
   * @param length Content-Length to announce, or -1 for none.
   */
  sendHead(status: number, headers: readonly string[], length: number): void
  /** Starts a streamed response. @param length Content-Length, or -1 if unknown (sent chunked). */
  start(status: number, headers: readonly string[], length: number): void
  /** Sends the next bytes, copying what must wait. Returns false if the caller should wait for `onClientDrain`. */
  write(chunk: Uint8Array): boolean
  /**
   * Ends a streamed response. If it is shorter than announced, the connection is cut, so that the client notices.
   * Returns false if the last bytes are still being sent; `onClientDrain` follows.
   * @param trailers trailer fields (RFC 9110 section 6.5), a flat list with names in lower case. Dropped if the
   * client's protocol or the engine does not support them.
   */
  end(trailers?: readonly string[] | null): boolean
  abort(): void
  /** Bytes of the last `write` that the client has not accepted, or -1 if the engine does not know. */
  readonly unsentBytes: number
}

/** A WebSocket upgrade request (RFC 6455 section 4). It may also get an ordinary response. */
export interface UpgradeOffer {
  /** True if the engine relays compressed messages unchanged. */
  readonly passesCompression: boolean
  /** True if the client has sent bytes after the request without waiting for the answer. */
  readonly hasEarlyBytes: boolean
  /**
   * Answers 101 and hands over the connection. Returns null if it is gone.
   * @param key key from the client's handshake.
   */
  accept(headers: readonly string[], key: string): FrameEnd | null
}

/** Receiver of a client stream's events. */
export interface ClientOwner {
  /** Called when the connection was lost before the response was complete. */
  onClientAbort(): void
  /** Called when there is room again after `write` returned false. */
  onClientDrain(): void
  /** Called when the request body is invalid. No more of it will arrive. */
  onBodyInvalid(reply: Reply): void
}

/** Receiver of a request body. A chunk is valid only during the call: copy what must be kept. */
export interface BodyReceiver {
  /** @param trailers trailer fields with the last chunk, a flat list with names in lower case. */
  onBodyChunk(chunk: Uint8Array, isLast: boolean, trailers?: readonly string[] | null): void
}

/** Entry point of the pipeline. Its methods do not throw. */
export interface RequestHandler {
  /** Handles a request with a well-formed head. */
  accept(x: Exchange, client: ClientStream, settings: ListenerSettings): void
  /** Handles a request that the listener must refuse, so that it is answered, counted and logged like any other. */
  refuse(x: Exchange, client: ClientStream, reply: Reply): void
}

/** Settings of a listener that can change without reopening it. */
export interface ListenerSettings extends ClientPace {
  readonly trusted: CidrSet | null
  readonly proxyProtocol: boolean
  /** True if a client that closes its sending side still gets its responses. */
  readonly allowHalfClose: boolean
  readonly forwardedHeader: ListenerPlan['forwardedHeader']
  readonly health: boolean
  readonly paths: ListenerPlan['paths']
  /** HTTP/2 settings, or null if the engine does not support HTTP/2. */
  readonly http2: ListenerPlan['http2']
  readonly headerBytes: number
  readonly headers: number
  readonly urlBytes: number
  readonly bodyBytes: number
  readonly connections: number
  /** Maximum number of connections per client address, except from trusted proxies. */
  readonly connectionsPerClient: number
  readonly keepAliveMs: number
  readonly headTimeoutMs: number
}

/** A listening socket and its connections. */
export interface Listener {
  /**
   * Starts accepting connections.
   * @param replaced listener at the same address, or null. It may hand over its listening socket without losing
   * connections. Otherwise, it accepts connections until `close`.
   * @throws Error if the address cannot be bound.
   */
  open(replaced?: Listener | null): Promise<void>
  readonly port: number
  /** Settings for requests whose head arrives from now on. */
  settings: ListenerSettings
  connections(): number
  /**
   * Announces the end: HTTP/2 connections close after their next request (GOAWAY), and HTTP/1.1 connections after their
   * next response, through `closeAfter`.
   */
  announceEnd(): void
  /** Stops accepting connections. Open ones are unaffected. Resolves when the listening socket is closed. */
  stopListening(): Promise<void>
  /** Stops accepting connections. Open ones close after their next response. */
  close(): void
  /** Destroys every connection. */
  terminate(): void
}
