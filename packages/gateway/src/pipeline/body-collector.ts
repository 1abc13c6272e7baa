import type { BodyReceiver } from '../listener/listener.js'
import type { Flow } from './flow.js'
import { REFUSALS } from './refusals.js'

const EMPTY = new Uint8Array(0)

/** Gathers a whole request body, up to the exchange's limit, for hooks that need it in one piece. */
export class BodyCollector implements BodyReceiver {
  readonly #flow: Flow
  readonly #chunks: Buffer[] = []
  #done: (() => void) | null = null

  constructor(flow: Flow) {
    this.#flow = flow
  }

  /** Calls `done` once `x.body` is there. A body over the limit refuses the request instead. */
  collect(done: () => void): void {
    const { x, client } = this.#flow
    if (x.contentLength === 0) {
      x.body = EMPTY
      done()
      return
    }
    this.#done = done
    client.readBody(this)
  }

  onBodyChunk(chunk: Uint8Array, isLast: boolean): void {
    const flow = this.#flow
    if (flow.isOver || this.#done === null) return
    flow.x.requestBytes += chunk.length
    if (flow.x.capture !== null) flow.x.capture.onRequestChunk(chunk)
    if (flow.x.requestBytes > flow.x.bodyLimit) {
      this.#done = null
      flow.refuse(REFUSALS.tooLarge)
      return
    }
    this.#chunks.push(Buffer.from(chunk))
    flow.touch(flow.x.bodyIdleMs)
    if (!isLast) return
    flow.x.body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    const done = this.#done
    this.#done = null
    done()
  }
}
