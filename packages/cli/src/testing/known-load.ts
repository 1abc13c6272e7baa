import http from 'node:http'
import type net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../testing.js'

/** Pause of each loop between requests, in milliseconds. It leaves CPU time for starting gateways. */
const PAUSE_MS = 10
/** Number of requests after which one closes its connection, so that new gateways get connections too. */
const RENEW_EVERY = 25

/** Pause before a refused or reset connection is retried, in milliseconds. */
const RECONNECT_MS = 50

/** A request without a 200 response, or without a connection. */
export interface Failure<Server> {
  readonly id: number
  readonly server: Server
  readonly why: string
}

/** Options for `KnownLoad`. */
export interface KnownLoadOptions<Server> {
  /** Number of concurrent requests per place. */
  readonly clients: number
  /** Returns the server of a connection. `answer` is null if there was no response. */
  readonly serverOf: (socket: net.Socket, answer: http.IncomingMessage | null) => Server
  /** Number of the first request; default 0. */
  readonly first?: number
}

/**
 * Returns whether a server did not accept the connection of a request. When a server closes its listening socket, the
 * kernel resets the connections in its accept queue (ADR 49).
 */
function wasNotAccepted({ code, syscall }: NodeJS.ErrnoException, request: http.ClientRequest): boolean {
  if (code === 'ECONNREFUSED') return true
  return code === 'ECONNRESET' && syscall !== undefined && !request.reusedSocket
}

/** Load on persistent connections. Request n has the path `/r/n`. */
export class KnownLoad<Server> {
  readonly failures: Failure<Server>[] = []
  /** Refused connections, and those reset before they were accepted. Their requests were sent on other connections. */
  readonly refused: Failure<Server>[] = []
  /** Server of each request with a 200 response, by request number. */
  readonly answered = new Map<number, Server>()
  pauseMs = PAUSE_MS
  protected isOver = false
  readonly #agents: readonly http.Agent[]
  readonly #options: KnownLoadOptions<Server>
  #loops: readonly Promise<void>[] = []
  #next: number

  /** @param places functions that open a connection */
  constructor(places: readonly (() => net.Socket)[], options: KnownLoadOptions<Server>) {
    this.#options = options
    this.#next = options.first ?? 0
    this.#agents = places.map((connect) => {
      const agent = new http.Agent({ keepAlive: true })
      agent.createConnection = connect
      return agent
    })
  }

  begin(): this {
    const { clients } = this.#options
    this.#loops = this.#agents.flatMap((agent) => Array.from({ length: clients }, () => this.#ask(agent)))
    return this
  }

  async #ask(agent: http.Agent): Promise<void> {
    while (!this.isOver) {
      const id = this.#next++
      while ((await this.#call(id, agent)) === 'refused' && !this.isOver) await delay(RECONNECT_MS)
      await delay(this.pauseMs)
    }
  }

  #call(id: number, agent: http.Agent): Promise<'refused' | 'ended'> {
    return new Promise((resolve) => {
      let socket!: net.Socket
      const fail = (why: string, isRefused = false): void => {
        const failure = { id, server: this.#options.serverOf(socket, null), why }
        ;(isRefused ? this.refused : this.failures).push(failure)
        resolve(isRefused ? 'refused' : 'ended')
      }
      const headers = id % RENEW_EVERY === 0 ? { connection: 'close' } : {}
      const request = http.get({ agent, path: `/r/${id}`, host: 'service', headers }, (res) => {
        res.resume()
        res.on('error', ({ message }) => fail(message))
        res.on('end', () => {
          if (res.statusCode !== 200) return fail(String(res.statusCode))
          this.answered.set(id, this.#options.serverOf(socket, res))
          resolve('ended')
        })
      })
      request.on('socket', (given) => (socket = given as net.Socket))
      request.on('error', (error) => fail(error.message, wasNotAccepted(error, request)))
    })
  }

  /** Number of the next request. */
  get sent(): number {
    return this.#next
  }

  /** Failed requests and refused connections so far. */
  get problems(): readonly Failure<Server>[] {
    return [...this.failures, ...this.refused]
  }

  answeredBy(server: Server): number[] {
    return [...this.answered].filter(([, by]) => by === server).map(([id]) => id)
  }

  /** Waits until each server has answered this number of further requests. */
  async served(servers: readonly Server[], requests: number): Promise<void> {
    const first = this.#next
    const answersOf = (server: Server): number => this.answeredBy(server).filter((id) => id >= first).length
    await until(() => servers.every((server) => answersOf(server) >= requests))
  }

  async stop(): Promise<void> {
    this.isOver = true
    await Promise.all(this.#loops)
    for (const agent of this.#agents) agent.destroy()
  }
}
