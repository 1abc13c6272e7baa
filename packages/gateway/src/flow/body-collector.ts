import { ByteCollector, type DeliveredExchange, type Reply } from '@sluice/core'
import type { BodyReceiver, ClientStream } from '../listen/listener.js'
import { REFUSALS } from './refusals.js'

const EMPTY = new Uint8Array(0)

/** A consumer that needs the body in one piece: a route's hooks, or the router. */
export interface BodyReader {
  readonly x: DeliveredExchange
  readonly client: ClientStream
  /** True if the body is no longer needed. */
  readonly isOver: boolean
  /** Called when bytes have arrived, to extend the deadline for the next ones. */
  onBodyBytes(bytes: number): void
  refuse(reply: Reply): void
}

/** Collects a whole request body, up to the limit of the exchange. */
export class BodyCollector implements BodyReceiver {
  readonly #reader: BodyReader
  readonly #bytes = new ByteCollector()
  #done: (() => void) | null = null

  constructor(reader: BodyReader) {
    this.#reader = reader
  }

  /** Calls `done` once `x.body` is set. A body over the limit refuses the request instead. */
  collect(done: () => void): void {
    const { x, client } = this.#reader
    if (x.contentLength === 0) {
      x.body = EMPTY
      done()
      return
    }
    this.#done = done
    client.readBody(this)
  }

  onBodyChunk(chunk: Uint8Array, isLast: boolean): void {
    const reader = this.#reader
    const { x } = reader
    if (reader.isOver || this.#done === null) return
    x.requestBytes += chunk.length
    if (x.record.capture !== null) x.record.capture.onRequestChunk(chunk)
    if (x.requestBytes > x.bodyLimit) {
      this.#done = null
      reader.refuse(REFUSALS.tooLarge)
      return
    }
    this.#bytes.add(chunk)
    reader.onBodyBytes(chunk.length)
    if (!isLast) return
    x.body = this.#bytes.toBuffer()
    const done = this.#done
    this.#done = null
    done()
  }
}
