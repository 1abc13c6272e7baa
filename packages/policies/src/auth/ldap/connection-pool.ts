import { type ConnectOptions, LdapConnection, UnusableResponse } from './connection.js'
import type { ServerAddress } from './transport.js'

/** Time for which an unreachable server is avoided if there are others, in milliseconds. */
const AVOID_MS = 10_000
/**
 * Time for which an unreachable server is avoided if there is no other, in milliseconds. Logins fail
 * immediately in the meantime.
 */
const PAUSE_MS = 1000
/** Maximum age of a connection in milliseconds. Replacing connections returns traffic to the first server. */
const MAX_AGE_MS = 600_000
/** Maximum number of logins that wait for a connection. */
const MAX_WAITING = 256

/** Options for a `ConnectionPool`. */
export interface PoolOptions extends ConnectOptions {
  readonly servers: readonly ServerAddress[]
  readonly max: number
  readonly idleMs: number
  /** Called once when a server becomes unusable. */
  readonly onFault: (server: ServerAddress, error: Error) => void
}

/** Thrown if no directory responds in time. */
export class DirectoryDown extends Error {}

/** Thrown if too many logins already wait for the directory. */
export class DirectoryBusy extends Error {}

interface Server {
  readonly address: ServerAddress
  /** Monotonic time of the last failure in milliseconds, or 0 if none. */
  failedAt: number
}

/** Pool of connections to the first server that works. A connection is used by one login at a time. */
export class ConnectionPool {
  readonly #options: PoolOptions
  readonly #servers: readonly Server[]
  readonly #idle: LdapConnection[] = []
  readonly #waiting: { readonly go: (free: boolean) => void }[] = []
  #used = 0
  #idleTimer: NodeJS.Timeout | null = null

  constructor(options: PoolOptions) {
    this.#options = options
    this.#servers = options.servers.map((address) => ({ address, failedAt: 0 }))
  }

  /**
   * Runs work on a connection. If an idle connection turns out to be closed, it is tried once more on another
   * one.
   * @throws UnusableResponse, DirectoryDown or DirectoryBusy.
   */
  async use<T>(work: (connection: LdapConnection) => Promise<T>): Promise<T> {
    await this.#enter()
    try {
      const kept = this.#takeIdle()
      if (kept !== null) {
        const startedMono = performance.now()
        const outcome = await this.#tryWith(kept, work)
        if ('value' in outcome) return outcome.value
        if (performance.now() - startedMono >= this.#options.operationMs) throw downBecause(outcome.error)
      }
      const outcome = await this.#tryWith(await this.#open(), work)
      if ('error' in outcome) throw downBecause(outcome.error)
      return outcome.value
    } finally {
      this.#leave()
    }
  }

  /**
   * Closes connections that have been idle for too long. The most recently used ones are at the end of the
   * list.
   */
  #closeIdle(): void {
    const before = performance.now() - this.#options.idleMs
    while (this.#idle.length > 0 && this.#idle[0]!.idleSince <= before) this.#idle.shift()!.close()
    this.#idleTimer = null
    if (this.#idle.length > 0) this.#watchIdle()
  }

  #watchIdle(): void {
    this.#idleTimer ??= setTimeout(() => this.#closeIdle(), this.#options.idleMs).unref()
  }

  async #enter(): Promise<void> {
    if (this.#used < this.#options.max) {
      this.#used++
      return
    }
    if (this.#waiting.length >= MAX_WAITING) throw new DirectoryBusy('too many logins wait for the directory')
    const isFree = await new Promise<boolean>((go) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        go(false)
      }, this.#options.operationMs)
      const waiting = {
        go: (free: boolean) => {
          clearTimeout(timer)
          go(free)
        },
      }
      this.#waiting.push(waiting)
    })
    if (!isFree) throw new DirectoryBusy('no connection became free in time')
  }

  /** Hands the slot to the login that has waited longest. */
  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#used--
    else next.go(true)
  }

  #takeIdle(): LdapConnection | null {
    for (;;) {
      const connection = this.#idle.pop()
      if (connection === undefined) return null
      if (connection.isOpen) return connection
    }
  }

  async #tryWith<T>(
    connection: LdapConnection,
    work: (connection: LdapConnection) => Promise<T>,
  ): Promise<{ readonly value: T } | { readonly error: Error }> {
    try {
      const value = await work(connection)
      this.#keep(connection)
      return { value }
    } catch (error) {
      if (error instanceof UnusableResponse) {
        this.#keep(connection)
        throw error
      }
      connection.close()
      return { error: error as Error }
    }
  }

  #keep(connection: LdapConnection): void {
    const now = performance.now()
    if (now - connection.openedMono > MAX_AGE_MS) {
      connection.close()
      return
    }
    connection.idleSince = now
    this.#idle.push(connection)
    this.#watchIdle()
  }

  async #open(): Promise<LdapConnection> {
    for (const server of this.#candidates()) {
      try {
        const connection = await LdapConnection.open(server.address, this.#options)
        server.failedAt = 0
        return connection
      } catch (error) {
        if (server.failedAt === 0) this.#options.onFault(server.address, error as Error)
        server.failedAt = performance.now()
      }
    }
    throw new DirectoryDown('no directory server is reachable')
  }

  /** Returns the servers in configured order. Recently failed ones come last or are omitted. */
  #candidates(): readonly Server[] {
    const now = performance.now()
    const isGood = ({ failedAt }: Server): boolean => failedAt === 0 || now - failedAt > AVOID_MS
    const isWorthATry = ({ failedAt }: Server): boolean => now - failedAt > PAUSE_MS
    const good = this.#servers.filter(isGood)
    return [...good, ...this.#servers.filter((server) => !good.includes(server) && isWorthATry(server))]
  }
}

function downBecause(cause: Error): DirectoryDown {
  return new DirectoryDown(cause.message, { cause })
}
