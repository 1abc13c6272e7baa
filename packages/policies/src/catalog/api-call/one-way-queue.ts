import type { HttpAnswer, HttpClient } from '@sluice/core'
import type { MadeCall } from './call-request.js'

const MAX_CALLS = 1000
const MAX_BYTES = 16 * 1024 * 1024
const MAX_ACTIVE = 8
/** A call without its fields and its body. */
const CALL_BYTES = 500

interface Waiting {
  readonly client: HttpClient
  readonly call: MadeCall
  readonly bytes: number
  readonly done: (answer: HttpAnswer | null, error: unknown) => void
}

/** Calls that nobody waits for: a worker's, with a bound on their number and their bytes. */
export class OneWayQueue {
  readonly #waiting: Waiting[] = []
  #bytes = 0
  #active = 0

  /** False: there is no room. @param done hears what became of it. */
  add(client: HttpClient, call: MadeCall, done: Waiting['done']): boolean {
    let bytes = CALL_BYTES + call.path.length + (call.body?.length ?? 0)
    for (const text of call.headers) bytes += text.length
    if (this.#waiting.length >= MAX_CALLS || this.#bytes + bytes > MAX_BYTES) return false
    this.#bytes += bytes
    this.#waiting.push({ client, call, bytes, done })
    this.#next()
    return true
  }

  #next(): void {
    while (this.#active < MAX_ACTIVE) {
      const first = this.#waiting.shift()
      if (first === undefined) return
      this.#active++
      void this.#send(first)
    }
  }

  async #send({ client, call, bytes, done }: Waiting): Promise<void> {
    try {
      done(await client.call(call), null)
    } catch (error) {
      done(null, error)
    }
    this.#bytes -= bytes
    this.#active--
    this.#next()
  }
}
