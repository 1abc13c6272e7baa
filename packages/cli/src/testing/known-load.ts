import http from 'node:http'
import type net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../testing.js'

/** Each loop waits so long between an answer and its next request: the machine has gateways to start. */
const PAUSE_MS = 10
/** Every so many requests one ends its connection, and another finds gateways that are new. */
const RENEW_EVERY = 25

/** A connection that was refused is tried again after so long, as load balancers and clients do: nothing was sent. */
const RECONNECT_MS = 50

/** A request that was not answered with 200, or that found no connection. */
export interface Failure<Server> {
  readonly id: number
  readonly server: Server
  readonly why: string
}

export interface KnownLoadOptions<Server> {
  /** Requests at a time, to each place. */
  readonly clients: number
  /** Who serves a connection, by it and by the answer that came on it; null: none came. */
  readonly serverOf: (socket: net.Socket, answer: http.IncomingMessage | null) => Server
}

/** A load on kept connections whose requests are known: number n asks for the path `/r/n`. */
export class KnownLoad<Server> {
  readonly failures: Failure<Server>[] = []
  /** Connections that nobody took; each of their requests was sent on another one. */
  readonly refused: Failure<Server>[] = []
  /** Who answered each request that got 200. */
  readonly answered = new Map<number, Server>()
  pauseMs = PAUSE_MS
  protected isOver = false
  readonly #agents: readonly http.Agent[]
  readonly #options: KnownLoadOptions<Server>
  #loops: readonly Promise<void>[] = []
  #next = 0

  /** @param places connect to what is asked. */
  constructor(places: readonly (() => net.Socket)[], options: KnownLoadOptions<Server>) {
    this.#options = options
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
      const fail = (why: string, code?: string): void => {
        const isRefused = code === 'ECONNREFUSED'
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
      request.on('error', ({ message, code }: NodeJS.ErrnoException) => fail(message, code))
    })
  }

  /** What went wrong so far: failed requests, and connections that were refused. */
  get troubles(): readonly Failure<Server>[] {
    return [...this.failures, ...this.refused]
  }

  answeredBy(server: Server): number[] {
    return [...this.answered].filter(([, by]) => by === server).map(([id]) => id)
  }

  /** Waits until so many more requests were answered by each of these. */
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
