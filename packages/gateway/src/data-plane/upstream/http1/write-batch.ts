import type { CachedClock } from '../../lib/cached-clock.js'
import type { Connection } from './connection.js'

/**
 * Requests for kept connections are written together, at the end of the turn of the event loop in which they came. By then
 * everything that had arrived on those connections has been read: bytes that nobody asked for, or their end. A request
 * written before that would be given those bytes as its answer, or be lost with the connection.
 *
 *     turn:  reads (requests of clients, answers and ends of targets) ─► write batch ─► next turn
 */
export class WriteBatch {
  readonly #clock: CachedClock
  #connections: Connection[] = []

  constructor(clock: CachedClock) {
    this.#clock = clock
  }

  /** Lets the attempt that was given to the connection begin at the end of this turn. */
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
        // Its attempt may have been given up since.
        if (connection.attempt !== null && !connection.isClosed) connection.begin()
      }
    } finally {
      this.#clock.drop()
    }
  }
}
