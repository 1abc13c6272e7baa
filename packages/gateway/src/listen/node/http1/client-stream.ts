import type net from 'node:net'
import { HeaderCache } from '@sluice/core'
import { writeTogether } from '../../../lib/socket-output.js'
import type { SocketEnd } from '../../../protocol/websocket/socket-end.js'
import { dateLine } from '../../date-line.js'
import type { BodyReceiver, ClientOwner, ClientStream, UpgradeOffer } from '../../listener.js'
import { formLatin1Line, STATUS_LINES } from '../../response-head.js'
import { unsentBytes } from '../socket/server-socket.js'
import type { DecodedHead } from './head-decoder.js'

/** Cache of response fields, formatted as lines. */
export const FIELDS = new HeaderCache(formLatin1Line)
const LAST_CHUNK = '0\r\n\r\n'

/** The parts of a request that its response depends on. */
export type StreamOptions = Pick<DecodedHead, 'minor' | 'takesTrailers'>

/** The connection, as a request and its response see it. */
export interface StreamConnection {
  readonly socket: net.Socket
  /** True once the request has been received with its whole body. */
  readonly hasWholeRequest: boolean
  readonly waitsToContinue: boolean
  readBody(receiver: BodyReceiver): void
  pauseBody(): void
  resumeBody(): void
  /** True if bytes after the request have been read. */
  readonly hasHeldBytes: boolean
  /** Hands the connection over. From then on, only the new owner reads and writes it. */
  switchTo(): SocketEnd
  /** Called when the response has been written. */
  onResponseEnd(): void
  /**
   * Cuts the response so that the client notices.
   * @param byReset true if a plain close would look like the regular end of the response.
   */
  cut(byReset: boolean): void
}

/**
 * A request and its response on an HTTP/1 connection.
 *
 *     open ─ start ─► streaming ─ end ─► over        open ─ send ─► over
 */
export class NodeClientStream implements ClientStream {
  owner: ClientOwner | null = null
  closeAfter = false
  isGone = false
  isOver = false
  /** Exchange id, which is among the response fields and needs no validation. */
  requestId = ''
  readonly #connection: StreamConnection
  /** Minor version: 1 for HTTP/1.1, 0 for HTTP/1.0. */
  readonly #minor: number
  readonly #takesTrailers: boolean
  #hasStarted = false
  #isChunked = false
  /** Content-Length of a streamed response, or -1 if unknown. */
  #length = -1
  #taken = 0
  /** Response head that waits for the first body bytes, until the end of the turn. */
  #head = ''
  #isWaiting = false

  constructor(connection: StreamConnection, { minor, takesTrailers }: StreamOptions) {
    this.#connection = connection
    this.#minor = minor
    this.#takesTrailers = takesTrailers
  }

  get upgrade(): UpgradeOffer | null {
    return null
  }

  /** True if no part of the response has been sent. */
  get isUnanswered(): boolean {
    return !this.#hasStarted && !this.isOver
  }

  get unsentBytes(): number {
    return this.isOver ? 0 : unsentBytes(this.#connection.socket)
  }

  get waitsToContinue(): boolean {
    return this.#connection.waitsToContinue
  }

  readBody(receiver: BodyReceiver): void {
    if (!this.isOver) this.#connection.readBody(receiver)
  }

  pauseBody(): void {
    if (!this.isOver) this.#connection.pauseBody()
  }

  resumeBody(): void {
    if (!this.isOver) this.#connection.resumeBody()
  }

  send(status: number, headers: readonly string[], body: Uint8Array | string | null): void {
    if (this.isOver) return
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    const head = this.#headOf(status, headers, '\r\ncontent-length: ' + (bytes?.length ?? 0))
    writeTogether(this.#connection.socket, head, bytes, '')
    this.#finish()
  }

  sendHead(status: number, headers: readonly string[], length: number): void {
    if (this.isOver) return
    const framing = length < 0 ? '' : '\r\ncontent-length: ' + length
    writeTogether(this.#connection.socket, this.#headOf(status, headers, framing), null, '')
    this.#finish()
  }

  start(status: number, headers: readonly string[], length: number): void {
    if (this.isOver) return
    this.#hasStarted = true
    this.#length = length
    this.#isChunked = length < 0 && this.#minor === 1
    // HTTP/1.0 has no chunked coding: the end of the connection ends the body.
    if (length < 0 && !this.#isChunked) this.closeAfter = true
    this.#head = this.#headOf(status, headers, this.#framingOf(length))
    process.nextTick(flushHead, this)
  }

  #framingOf(length: number): string {
    if (length >= 0) return '\r\ncontent-length: ' + length
    return this.#isChunked ? '\r\ntransfer-encoding: chunked' : ''
  }

  write(chunk: Uint8Array): boolean {
    // An empty chunk would end the body.
    if (this.isOver || chunk.length === 0) return true
    this.#taken += chunk.length
    // The client would read excess bytes as its next response.
    if (this.#length >= 0 && this.#taken > this.#length) {
      this.abort()
      return true
    }
    const head = this.#takeHead()
    const { socket } = this.#connection
    const hasRoom = this.#isChunked
      ? writeTogether(socket, head + chunk.length.toString(16) + '\r\n', chunk, '\r\n')
      : writeTogether(socket, head, chunk, '')
    if (!hasRoom) this.#isWaiting = true
    return hasRoom
  }

  end(trailers: readonly string[] | null = null): boolean {
    if (this.isOver) return true
    if (this.#length >= 0 && this.#taken < this.#length) {
      this.abort()
      return true
    }
    const rest = this.#takeHead() + (this.#isChunked ? this.#lastChunk(trailers) : '')
    if (rest !== '') this.#connection.socket.write(rest, 'latin1')
    this.#finish()
    return true
  }

  #lastChunk(trailers: readonly string[] | null): string {
    if (trailers === null || !this.#takesTrailers) return LAST_CHUNK
    return '0' + (FIELDS.lines(trailers, '') ?? '') + '\r\n\r\n'
  }

  abort(): void {
    if (this.isOver) return
    const isEndless = this.#hasStarted && this.#length < 0 && !this.#isChunked
    this.isOver = true
    this.#connection.cut(isEndless)
  }

  /** Handles the loss of the connection. */
  onGone(): void {
    this.isGone = true
    if (this.isOver) return
    this.isOver = true
    this.owner?.onClientAbort()
  }

  /** Handles a client that has drained its buffer. */
  onDrain(): void {
    if (this.isOver || !this.#isWaiting) return
    this.#isWaiting = false
    this.owner?.onClientDrain()
  }

  /** Sends a head whose body has not arrived yet. @internal */
  flushHead(): void {
    if (this.isOver) return
    const head = this.#takeHead()
    if (head !== '') this.#connection.socket.write(head, 'latin1')
  }

  #takeHead(): string {
    const head = this.#head
    this.#head = ''
    return head
  }

  #headOf(status: number, headers: readonly string[], framing: string): string {
    if (!this.#connection.hasWholeRequest) this.closeAfter = true
    const line = 'HTTP/1.1 ' + (STATUS_LINES[status] ?? STATUS_LINES[502]!)
    const lines = FIELDS.lines(headers, this.requestId) ?? ''
    return line + dateLine() + lines + framing + this.#connectionLine() + '\r\n\r\n'
  }

  #connectionLine(): string {
    if (this.closeAfter) return '\r\nconnection: close'
    return this.#minor === 0 ? '\r\nconnection: keep-alive' : ''
  }

  #finish(): void {
    this.isOver = true
    this.#connection.onResponseEnd()
  }
}

function flushHead(stream: NodeClientStream): void {
  stream.flushHead()
}
