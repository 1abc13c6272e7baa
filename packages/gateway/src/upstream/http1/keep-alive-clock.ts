import type { Connection } from './connection.js'

/** Rounds per keep-alive time or maximum age, whichever is shorter. A connection may close early by one round. */
const ROUNDS = 16
const MIN_ROUND_MS = 5
const MAX_ROUND_MS = 250

/** Time in milliseconds by which a connection is closed before the target's announced timeout. */
const MARGIN_MS = 500

/**
 * Closes idle connections in time and renews old ones. One coarse timer checks all connections of a target; a request
 * only stores the number of the round in which its connection became idle.
 */
export class KeepAliveClock {
  readonly #connections: ReadonlySet<Connection>
  readonly #keepAliveMs: number
  readonly #roundMs: number
  #round = 0
  #timer: NodeJS.Timeout | null = null

  constructor(connections: ReadonlySet<Connection>, keepAliveMs: number, maxAgeMs: number) {
    this.#connections = connections
    this.#keepAliveMs = keepAliveMs
    const shorter = Math.min(keepAliveMs, maxAgeMs)
    this.#roundMs = Math.min(MAX_ROUND_MS, Math.max(MIN_ROUND_MS, shorter / ROUNDS))
  }

  /** Starts the timer, which runs until there are no connections left. */
  start(): void {
    if (this.#timer !== null) return
    this.#timer = setInterval(() => this.#goRound(), this.#roundMs)
    this.#timer.unref()
  }

  /** Marks a connection as idle. Returns false if the target will not keep it. */
  keeps(connection: Connection): boolean {
    connection.idleSince = this.#round
    return connection.keepAlive === '' || this.#timeOf(connection) > 0
  }

  #goRound(): void {
    this.#round++
    const nowMono = performance.now()
    for (const connection of this.#connections) {
      const isIdle = connection.attempt === null && !connection.isConnecting
      if (nowMono >= connection.renewAt) connection.isOld = true
      if (isIdle && (connection.isOld || this.#isOverdue(connection))) connection.close()
    }
    if (this.#connections.size > 0) return
    clearInterval(this.#timer!)
    this.#timer = null
  }

  /** The first round was not a full one, so this never fires late. */
  #isOverdue(connection: Connection): boolean {
    return (this.#round - connection.idleSince) * this.#roundMs >= this.#timeOf(connection)
  }

  /** Returns the keep-alive time of a connection in milliseconds. */
  #timeOf({ keepAlive }: Connection): number {
    if (keepAlive === '') return this.#keepAliveMs
    const hint = /timeout=(\d+)/i.exec(keepAlive)
    return hint === null ? this.#keepAliveMs : Math.min(this.#keepAliveMs, Number(hint[1]) * 1000 - MARGIN_MS)
  }
}
