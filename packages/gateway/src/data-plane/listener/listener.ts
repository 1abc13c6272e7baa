import type { ListenerPlan } from '@sluice/config'
import type { CidrSet, ClientPace, Exchange, Reply } from '@sluice/core'
import type { FrameEnd } from '../websocket/frame-end.js'

/**
 * The client's side of one exchange, as the pipeline sees it, whatever engine serves the connection.
 *
 *     head in ─► Gate.accept(x, client) ─► readBody(receiver) ─► chunks ─► receiver
 *     client.send(…)                                  one complete response
 *     client.start(…), write(…)…, end()               a streamed one; write answers false when the client is slow
 *     client.abort()                                  cut the connection, so that the client sees a truncated body
 *
 * After `end`, `send` or `abort`, and after the owner's `onClientAbort`, nothing more is called on it.
 */
export interface ClientStream {
  /** Hears of the client going away and of room in its receive window. Set before `accept` returns. */
  owner: ClientOwner | null
  /** Answer with `Connection: close` and close after the response. Only ever set, never cleared. */
  closeAfter: boolean
  /** The connection is gone; nothing can be sent. */
  readonly isGone: boolean
  /** The client asks to switch to the WebSocket protocol; null: it does not. */
  readonly upgrade: UpgradeOffer | null
  /** The client sends its body once it is told to, by `readBody` (RFC 9110 section 10.1.1). */
  readonly waitsToContinue: boolean
  /** Starts delivering the request body, from its first byte, to the receiver. Called at most once. */
  readBody(receiver: BodyReceiver): void
  /** Stops reading from the client; chunks already read may still arrive. */
  pauseBody(): void
  resumeBody(): void
  /** Sends a whole response. `headers` is a flat list without framing fields; the body is copied if it has to wait. */
  send(status: number, headers: readonly string[], body: Uint8Array | string | null): void
  /**
   * Sends a response without a body: to HEAD, or of a status that has none (204, 304).
   * @param length the Content-Length to announce; -1: none.
   */
  sendHead(status: number, headers: readonly string[], length: number): void
  /** Begins a streamed response. @param length its Content-Length; -1: unknown, sent chunked. */
  start(status: number, headers: readonly string[], length: number): void
  /** Sends the next bytes, of which it copies what has to wait. False: wait for `onClientDrain`. */
  write(chunk: Uint8Array): boolean
  /**
   * Ends a streamed response; one that fell short of its announced length is cut instead, so that the client notices.
   * False: the last bytes are still on their way, and `onClientDrain` follows once they are out.
   * @param trailers fields after the body (RFC 9110 section 6.5), a flat list, names in lower case; dropped where the
   * client's protocol or engine has no room for them.
   */
  end(trailers?: readonly string[] | null): boolean
  abort(): void
  /** Bytes of the last `write` that the client has not taken; -1: the engine does not say. */
  readonly unsentBytes: number
}

/** A request to switch to the WebSocket protocol (RFC 6455 section 4). It may also be answered as any other request. */
export interface UpgradeOffer {
  /** The engine relays compressed messages as they are. */
  readonly passesCompression: boolean
  /** The client has sent bytes behind the request, before it knows what they mean. */
  readonly hasEarlyBytes: boolean
  /**
   * Answers 101 and gives the connection away. Null: it is gone.
   * @param key that of the client's handshake.
   */
  accept(headers: readonly string[], key: string): FrameEnd | null
}

/** What a client stream reports to the one who answers it. */
export interface ClientOwner {
  /** The connection was lost before the response was complete. */
  onClientAbort(): void
  /** There is room again after `write` answered false. */
  onClientDrain(): void
  /** The body of the request is not valid: what is left of it will not come. */
  onBodyInvalid(reply: Reply): void
}

/** Where the chunks of a request body go. A chunk is only valid during the call: copy what must be kept. */
export interface BodyReceiver {
  /** @param trailers fields after the body, with the last chunk; a flat list, names in lower case. */
  onBodyChunk(chunk: Uint8Array, isLast: boolean, trailers?: readonly string[] | null): void
}

/** The pipeline's entrance. Neither call throws. */
export interface Gate {
  /** Takes a request whose head is well-formed. */
  accept(x: Exchange, client: ClientStream, settings: ListenerSettings): void
  /** Takes a request that the listener must refuse, so that it is answered, counted and logged like every other. */
  refuse(x: Exchange, client: ClientStream, reply: Reply): void
  /** Hears of a turn of the event loop behind which more connections may wait to be accepted. @param isFirst the turn before left none. */
  onFullAcceptTurn?(isFirst: boolean): void
}

/** What of a listener can change without opening it again. */
export interface ListenerSettings extends ClientPace {
  readonly trusted: CidrSet | null
  readonly proxyProtocol: boolean
  /** True if a client that closes its sending side still gets its responses. */
  readonly allowHalfClose: boolean
  readonly forwardedHeader: ListenerPlan['forwardedHeader']
  readonly health: boolean
  readonly paths: ListenerPlan['paths']
  /** Null where the engine does not speak it. */
  readonly http2: ListenerPlan['http2']
  readonly headerBytes: number
  readonly headers: number
  readonly urlBytes: number
  readonly bodyBytes: number
  readonly connections: number
  /** From one address that is no trusted proxy. */
  readonly connectionsPerClient: number
  readonly keepAliveMs: number
  readonly headTimeoutMs: number
}

/** One open listening socket. */
export interface Listener {
  readonly port: number
  /** Applies to requests whose head arrives from now on. */
  settings: ListenerSettings
  connections(): number
  /** HTTP/2 connections end with their next request (GOAWAY); those of HTTP/1.1 with their next answer, whose owner says so. */
  announceEnd(): void
  /** Stops accepting connections; those that are open end with their next answer. */
  close(): void
  /** Cuts every connection. */
  terminate(): void
}
