import type { DeliveredExchange, Reply } from '@sluice/core'
import type { BodyReceiver, ClientStream } from '../listen/listener.js'
import { ArrivingBody } from './arriving-body.js'
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

/** Collects a whole request body, up to the limits of the exchange and the worker. Call `drop` when the reader stops. */
export class BodyCollector implements BodyReceiver {
  readonly #reader: BodyReader
  /** Bytes received so far, or null for a body in one piece. */
  #arriving: ArrivingBody | null = null
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
      this.#refuse(REFUSALS.tooLarge)
      return
    }
    const isWhole = isLast && this.#arriving === null
    if (!isWhole) {
      this.#arriving ??= new ArrivingBody()
      if (!this.#arriving.add(chunk)) {
        this.#refuse(REFUSALS.overloaded)
        return
      }
    }
    reader.onBodyBytes(chunk.length)
    if (!isLast) return
    x.body = isWhole ? Buffer.from(chunk) : this.#arriving!.take()
    const done = this.#done
    this.#done = null
    done()
  }

  #refuse(reply: Reply): void {
    this.#done = null
    this.drop()
    this.#reader.refuse(reply)
  }

  /** Releases the bytes of an incomplete body. */
  drop(): void {
    this.#arriving?.drop()
  }
}
