import type { PacedClient } from './paced-client.js'

/** Says when connections ask. */
export interface Pace {
  free(client: PacedClient): void
  gone(client: PacedClient): void
}

/** As fast as it goes: whoever is free asks. */
export const closedLoop: Pace = {
  free(client) {
    const nowMono = performance.now()
    client.send({ fromMono: nowMono, isEarly: false })
  },
  gone() {},
}

/** How late a timer of Node wakes up at the latest when nothing keeps it. */
const TICK_MS = 1

/**
 * A plan that does not wait for answers: request n is due n intervals after the start. The connection that has been free
 * for longest asks; a request that finds none free is asked late, and its latency counts from when it was due, so that a
 * server that stops cannot hide what it made others wait (coordinated omission, Tene 2013). The one thing that is not put
 * on the server's account is the tick of our own timer: while a connection is free a request of the last millisecond
 * counts from its sending.
 */
export class OpenLoop implements Pace {
  readonly #free = new Set<PacedClient>()
  readonly #perMs: number
  #timer: NodeJS.Timeout | undefined
  #startMono = 0
  #next = 0
  /** The number of the first request that is measured, and of the first that is not asked any more. */
  #first = 0
  #end = 0

  constructor(perSecond: number) {
    this.#perMs = perSecond / 1000
  }

  /** Connections that have nothing under way; before the plan begins, all that are open. */
  get idle(): number {
    return this.#free.size
  }

  /** Begins the plan. Its requests are distinguished by their numbers: the time of one may be rounded across a border. */
  start(startMono: number, leadInSeconds: number, seconds: number): void {
    this.#startMono = startMono
    this.#first = this.#countIn(leadInSeconds)
    this.#end = this.#countIn(leadInSeconds + seconds)
    this.#timer = setInterval(() => this.#drive(true), TICK_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** How many requests are due in the measured time. */
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
