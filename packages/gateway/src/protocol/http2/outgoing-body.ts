import type { DataSender, SendingStream } from './data-sender.js'
import { MAX_PAYLOAD } from './frames.js'

const EMPTY = new Uint8Array(0)

/** Owner of an outgoing body. */
export interface OutgoingBodyOwner {
  /** Called when bytes were queued, and when the last of them was sent. */
  onQueueSent(): void
}

/** A body that is sent on an HTTP/2 stream. Bytes that the peer does not accept yet are queued. */
export class OutgoingBody implements SendingStream {
  readonly id: number
  sendWindow: number
  unsentBytes = 0
  /** True once the last frame was sent. */
  isSent = false
  readonly #sender: DataSender
  readonly #owner: OutgoingBodyOwner
  readonly #queue: Uint8Array[] = []
  #hasEnded = false
  #isDiscarded = false
  /** Encoded trailers. */
  #trailers = ''

  constructor(sender: DataSender, id: number, sendWindow: number, owner: OutgoingBodyOwner) {
    this.#sender = sender
    this.id = id
    this.sendWindow = sendWindow
    this.#owner = owner
  }

  /** Sends or queues bytes, which are valid only during the call. @param isEnd true if nothing follows. */
  write(bytes: Uint8Array, isEnd: boolean): void {
    // An empty frame would end the stream.
    if (bytes.length === 0 && !isEnd) return
    if (isEnd) this.#hasEnded = true
    const sent = this.#queue.length === 0 ? this.#sender.sendData(this, bytes, isEnd) : 0
    if (sent === bytes.length) {
      this.isSent ||= isEnd
      return
    }
    this.#queue.push(Buffer.from(bytes.subarray(sent)))
    this.unsentBytes += bytes.length - sent
  }

  /** Ends the body. @param trailers encoded trailers. */
  end(trailers = ''): void {
    this.#trailers = trailers
    this.#hasEnded = true
    if (this.#queue.length === 0) this.#sendEnd()
  }

  /** Drops unsent bytes after the stream has closed. */
  discard(): void {
    this.#isDiscarded = true
    this.#queue.length = 0
    this.#sender.remove(this)
  }

  pump(): boolean {
    const bytes = this.#queue[0]
    if (this.#isDiscarded || bytes === undefined) return true
    const part = bytes.length > MAX_PAYLOAD ? bytes.subarray(0, MAX_PAYLOAD) : bytes
    const isLast = part === bytes && this.#queue.length === 1 && this.#hasEnded && this.#trailers === ''
    const sent = this.#sender.sendData(this, part, isLast)
    this.unsentBytes -= sent
    if (sent === bytes.length) this.#queue.shift()
    else this.#queue[0] = bytes.subarray(sent)
    if (this.#queue.length > 0) return false
    if (isLast) this.isSent = true
    if (this.#hasEnded) this.#sendEnd()
    this.#owner.onQueueSent()
    return this.#queue.length === 0
  }

  #sendEnd(): void {
    if (this.isSent) return
    this.isSent = true
    if (this.#trailers !== '') this.#sender.writer.block(this.#trailers, this.id, true)
    else this.#sender.sendData(this, EMPTY, true)
  }
}
