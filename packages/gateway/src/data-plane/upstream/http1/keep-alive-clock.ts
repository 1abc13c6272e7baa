import type { Connection } from './connection.js'

/** Rounds within the shorter of the two times, so that a connection goes at most this part of it too early. */
const ROUNDS = 16
const MIN_ROUND_MS = 5
const MAX_ROUND_MS = 250

/** Closed this much before the target says that it will. */
const MARGIN_MS = 500

/**
 * Closes idle connections in time, and renews old ones. One coarse timer goes through all connections of a target; a
 * request only notes the number of the round in which its connection became idle.
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

  /** Runs until there are no connections left. */
  start(): void {
    if (this.#timer !== null) return
    this.#timer = setInterval(() => this.#goRound(), this.#roundMs)
    this.#timer.unref()
  }

  /** The connection is idle from now on. False: its target will not keep it. */
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

  /** The first of the rounds was not a whole one: never later than the time says. */
  #isOverdue(connection: Connection): boolean {
    return (this.#round - connection.idleSince) * this.#roundMs >= this.#timeOf(connection)
  }

  /** How long the connection may be idle, ms. */
  #timeOf({ keepAlive }: Connection): number {
    if (keepAlive === '') return this.#keepAliveMs
    const hint = /timeout=(\d+)/i.exec(keepAlive)
    return hint === null ? this.#keepAliveMs : Math.min(this.#keepAliveMs, Number(hint[1]) * 1000 - MARGIN_MS)
  }
}
