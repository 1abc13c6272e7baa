import type { CachedClock } from '../../lib/cached-clock.js'
import type { Connection } from './connection.js'

/**
 * Sends requests on reused connections together, at the end of the turn of the event loop in which they arrived. By
 * then, all input on those connections was read, including unexpected bytes or their end. A request sent earlier could
 * be given those bytes as its response, or be lost with the connection.
 *
 *     turn:  reads (client requests, target responses, disconnects) ─► write batch ─► next turn
 */
export class WriteBatch {
  readonly #clock: CachedClock
  #connections: Connection[] = []

  constructor(clock: CachedClock) {
    this.#clock = clock
  }

  /** Schedules the start of the connection's attempt for the end of this turn. */
  add(connection: Connection): void {
    if (connection.isInBatch) return
    connection.isInBatch = true
    if (this.#connections.push(connection) === 1) setImmediate(this.#write)
  }

  readonly #write = (): void => {
    const connections = this.#connections
    this.#connections = []
    this.#clock.read()
    try {
      for (const connection of connections) {
        connection.isInBatch = false
        // The attempt may have been abandoned since.
        if (connection.attempt !== null && !connection.isClosed) connection.begin()
      }
    } finally {
      this.#clock.drop()
    }
  }
}
