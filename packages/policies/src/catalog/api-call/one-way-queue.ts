import type { HttpAnswer, HttpClient } from '@sluice/core'
import type { MadeCall } from './call-request.js'

const MAX_CALLS = 1000
const MAX_BYTES = 16 * 1024 * 1024
/** Of one server. */
const MAX_ACTIVE = 8
/** A call without its fields and its body. */
const CALL_BYTES = 500

interface Waiting {
  readonly client: HttpClient
  readonly call: MadeCall
  readonly bytes: number
  readonly done: (answer: HttpAnswer | null, error: unknown) => void
}

/** The calls of one server. */
interface Lane {
  readonly waiting: Waiting[]
  /** Of those that wait and those under way. */
  count: number
  bytes: number
  active: number
}

/**
 * Calls that nobody waits for: a worker's, with a bound on their number and their bytes. Each server has a lane, with half
 * of the room that the others leave: one that does not answer holds up its own calls and no others.
 */
export class OneWayQueue {
  readonly #lanes = new Map<string, Lane>()
  #count = 0
  #bytes = 0

  /** False: there is no room. @param server whose lane it is. @param done hears what became of it. */
  add(server: string, client: HttpClient, call: MadeCall, done: Waiting['done']): boolean {
    let bytes = CALL_BYTES + call.path.length + (call.body?.length ?? 0)
    for (const text of call.headers) bytes += text.length
    const lane = this.#lanes.get(server) ?? { waiting: [], count: 0, bytes: 0, active: 0 }
    const mostCalls = (MAX_CALLS - this.#count + lane.count) / 2
    const mostBytes = (MAX_BYTES - this.#bytes + lane.bytes) / 2
    if (lane.count + 1 > mostCalls || lane.bytes + bytes > mostBytes) return false
    this.#lanes.set(server, lane)
    this.#note(lane, 1, bytes)
    lane.waiting.push({ client, call, bytes, done })
    this.#next(server, lane)
    return true
  }

  #note(lane: Lane, count: 1 | -1, bytes: number): void {
    lane.count += count
    lane.bytes += bytes
    this.#count += count
    this.#bytes += bytes
  }

  #next(server: string, lane: Lane): void {
    while (lane.active < MAX_ACTIVE) {
      const first = lane.waiting.shift()
      if (first === undefined) break
      lane.active++
      void this.#send(server, lane, first)
    }
    if (lane.count === 0) this.#lanes.delete(server)
  }

  async #send(server: string, lane: Lane, { client, call, bytes, done }: Waiting): Promise<void> {
    try {
      done(await client.call(call), null)
    } catch (error) {
      done(null, error)
    }
    lane.active--
    this.#note(lane, -1, -bytes)
    this.#next(server, lane)
  }
}
