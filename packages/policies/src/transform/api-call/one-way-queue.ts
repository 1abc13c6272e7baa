import type { HttpAnswer, HttpClient } from '@sluice/core'
import type { BuiltCall } from './call-request.js'

const MAX_CALLS = 1000
const MAX_BYTES = 16 * 1024 * 1024
/** Maximum number of concurrent calls per server. */
const MAX_ACTIVE = 8
/** Estimated memory of a call without its header fields and body, in bytes. */
const CALL_BYTES = 500

interface Waiting {
  readonly client: HttpClient
  readonly call: BuiltCall
  readonly bytes: number
  readonly done: (answer: HttpAnswer | null, error: unknown) => void
}

/** Queue of calls to one server. */
interface Lane {
  readonly waiting: Waiting[]
  /** Number of calls that wait or are in progress. */
  count: number
  bytes: number
  active: number
}

/**
 * Calls whose responses are not awaited. One queue per worker, bounded by number and bytes.
 * Each server has a lane that gets half of the space the other lanes leave free, so an unresponsive server
 * delays only its own calls.
 */
export class OneWayQueue {
  readonly #lanes = new Map<string, Lane>()
  #count = 0
  #bytes = 0

  /**
   * Adds a call. Returns false if there is no space.
   * @param server origin that selects the lane.
   * @param done called with the response or the error.
   */
  add(server: string, client: HttpClient, call: BuiltCall, done: Waiting['done']): boolean {
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
