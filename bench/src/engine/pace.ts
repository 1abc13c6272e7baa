import type { PacedClient } from './paced-client.js'

/** Decides when connections send. */
export interface Pace {
  free(client: PacedClient): void
  gone(client: PacedClient): void
}

/** Full speed: every free connection sends. */
export const closedLoop: Pace = {
  free(client) {
    const nowMono = performance.now()
    client.send({ fromMono: nowMono, isEarly: false })
  },
  gone() {},
}

/** Maximum delay of an idle Node.js timer, in milliseconds. */
const TICK_MS = 1

/**
 * A plan that does not wait for responses: request n is due n intervals after the start. The connection that has been
 * free longest sends. A request without a free connection is sent late, and its latency counts from the planned time.
 * A server that stops cannot hide the delay (coordinated omission, Tene 2013). Only the tick of our own timer
 * is not counted: with a free connection, a request of the last millisecond counts from its sending.
 */
export class OpenLoop implements Pace {
  readonly #free = new Set<PacedClient>()
  readonly #perMs: number
  #timer: NodeJS.Timeout | undefined
  #startMono = 0
  #next = 0
  /** Number of the first measured request, and of the first one after the end. */
  #first = 0
  #end = 0

  constructor(perSecond: number) {
    this.#perMs = perSecond / 1000
  }

  /** Connections without a current request. Before the plan starts, all open connections. */
  get idle(): number {
    return this.#free.size
  }

  /** Starts the plan. Requests are told apart by number, because a planned time may be rounded across a border. */
  start(startMono: number, leadInSeconds: number, seconds: number): void {
    this.#startMono = startMono
    this.#first = this.#countIn(leadInSeconds)
    this.#end = this.#countIn(leadInSeconds + seconds)
    this.#timer = setInterval(() => this.#drive(true), TICK_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Number of requests due in the measured time. */
  get measured(): number {
    return this.#end - this.#first
  }

  free(client: PacedClient): void {
    const hadFree = this.#free.size > 0
    this.#free.add(client)
    this.#drive(hadFree)
  }

  gone(client: PacedClient): void {
    this.#free.delete(client)
  }

  #drive(hadFree: boolean): void {
    const nowMono = performance.now()
    for (const client of this.#free) {
      const dueMono = this.#startMono + this.#next / this.#perMs
      if (dueMono > nowMono || this.#next >= this.#end) return
      const isEarly = this.#next++ < this.#first
      this.#free.delete(client)
      const isTick = hadFree && nowMono - dueMono <= TICK_MS
      client.send({ fromMono: isTick ? nowMono : dueMono, isEarly })
    }
  }

  #countIn(seconds: number): number {
    return Math.ceil(seconds * 1000 * this.#perMs - 1e-9)
  }
}
