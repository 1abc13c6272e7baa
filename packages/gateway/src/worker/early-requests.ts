import type { Exchange } from '@sluice/core'
import type { ClientStream, ListenerSettings } from '../listen/listener.js'

/** Maximum number of waiting requests, and of remembered requests whose client has left. */
const MOST = 1000

/** A request that arrived before the first snapshot. */
export interface EarlyRequest {
  readonly x: Exchange
  readonly client: ClientStream
  readonly settings: ListenerSettings
}

/** Outcome of the waiting requests. */
export interface EarlyOutcome {
  readonly waiting: readonly EarlyRequest[]
  /** Requests whose clients have disconnected. */
  readonly gone: readonly EarlyRequest[]
}

/** Requests waiting for the first snapshot. Their bodies are not read meanwhile. */
export class EarlyRequests {
  #waiting = new Set<EarlyRequest>()
  #gone: EarlyRequest[] = []

  /** Adds a request. Returns false if too many wait. */
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
