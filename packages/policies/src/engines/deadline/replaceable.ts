import { DESCRIPTORS, TimeLimitExceeded } from './run-with-timeout.js'

/** Factor by which the timeout grows for the second attempt. All other calls wait for that attempt. */
const RETRY_TIME_FACTOR = 10

/** An engine that can break during a call and must not be used afterwards. */
interface Breakable {
  readonly isBroken: boolean
  close(): void
}

/**
 * Holds one engine instance and replaces it when it breaks:
 *
 *     call ─► engine ─► result
 *                └─ broken ─► a new engine is created; calls wait for it
 */
export class Replaceable<E extends Breakable> {
  readonly #make: () => Promise<E>
  #engine: E
  #making: Promise<void> | null = null
  #isClosed = false

  static async of<E extends Breakable>(make: () => Promise<E>): Promise<Replaceable<E>> {
    return new Replaceable(await make(), make)
  }

  private constructor(engine: E, make: () => Promise<E>) {
    this.#engine = engine
    this.#make = make
  }

  /** The latest engine. It may be broken. */
  get engine(): E {
    return this.#engine
  }

  /**
   * Runs a call on the engine. Returns a promise only while a new engine is being created.
   * @param call receives a factor for its timeout. A call that timed out because the machine gave the process hardly
   * any CPU runs a second time, on a new engine and with a longer timeout.
   */
  run<T>(call: (engine: E, factor: number) => T, factor = 1): T | Promise<T> {
    // An earlier waiting call may have broken the new engine.
    if (this.#engine.isBroken) return this.#replaced().then(() => this.run(call, factor))
    // Filled before the engine starts, so that a failure here leaves the engine usable for the next call.
    DESCRIPTORS.fill()
    try {
      return call(this.#engine, factor)
    } catch (error) {
      if (factor > 1 || !(error instanceof TimeLimitExceeded && error.isStarved)) throw error
      return this.run(call, RETRY_TIME_FACTOR)
    } finally {
      if (this.#engine.isBroken) this.#engine.close()
    }
  }

  async #replaced(): Promise<void> {
    if (this.#isClosed) throw new Error('the engine is closed')
    this.#making ??= this.#replace()
    await this.#making
  }

  async #replace(): Promise<void> {
    try {
      const engine = await this.#make()
      if (this.#isClosed) engine.close()
      this.#engine = engine
    } finally {
      this.#making = null
    }
  }

  close(): void {
    this.#isClosed = true
    this.#engine.close()
  }
}
