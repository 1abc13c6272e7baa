import type { Exchange } from '@sluice/core'
import type { ClientStream, ListenerSettings } from '../data-plane/listener/listener.js'

/** As many wait, and as many of those whose client has left are remembered. */
const MOST = 1000

/** A request that came before the first snapshot. */
export interface EarlyRequest {
  readonly x: Exchange
  readonly client: ClientStream
  readonly settings: ListenerSettings
}

/** What became of them. */
export interface EarlyOutcome {
  readonly waiting: readonly EarlyRequest[]
  /** Their clients have left. */
  readonly gone: readonly EarlyRequest[]
}

/** Requests that wait for the first snapshot. Their bodies are not read meanwhile. */
export class EarlyRequests {
  #waiting = new Set<EarlyRequest>()
  #gone: EarlyRequest[] = []

  /** False: too many wait. */
  add(early: EarlyRequest): boolean {
    if (this.#waiting.size >= MOST) return false
    const { client } = early
    client.owner = {
      onClientAbort: () => this.#leave(early),
      onClientDrain: () => {},
      onBodyInvalid: () => {},
    }
    client.pauseBody()
    this.#waiting.add(early)
    return true
  }

  /** Nobody waits any more; the answer says who did. */
  take(): EarlyOutcome {
    const outcome = { waiting: [...this.#waiting], gone: this.#gone }
    this.#waiting = new Set()
    this.#gone = []
    for (const { client } of outcome.waiting) client.resumeBody()
    return outcome
  }

  #leave(early: EarlyRequest): void {
    this.#waiting.delete(early)
    if (this.#gone.length < MOST) this.#gone.push(early)
  }
}
