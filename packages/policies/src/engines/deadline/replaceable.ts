import { DESCRIPTORS, TimeIsOver } from './run-with-timeout.js'

/** How much more time the second call has, for which all others wait. */
const PATIENCE = 10

/** What may break while it is used, and is not to be used any more then. */
interface Breakable {
  readonly isBroken: boolean
  close(): void
}

/**
 * Keeps one instance of an engine, and makes another when that one broke:
 *
 *     call ─► engine ─► result
 *                └─ broken ─► made again; calls meanwhile wait for it
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

  /** The latest; it may be broken. */
  get engine(): E {
    return this.#engine
  }

  /**
   * A promise only while an engine is made.
   * @param call is given the factor of its time: one that was stopped although the machine hardly let it run is made
   * once more, with another engine and more time.
   */
  run<T>(call: (engine: E, factor: number) => T, factor = 1): T | Promise<T> {
    // Whoever waited before may have broken the new one.
    if (this.#engine.isBroken) return this.#replaced().then(() => this.run(call, factor))
    // Before the engine begins: it is whole for the next call.
    DESCRIPTORS.fill()
    try {
      return call(this.#engine, factor)
    } catch (error) {
      if (factor > 1 || !(error instanceof TimeIsOver && error.isStarved)) throw error
      return this.run(call, PATIENCE)
    } finally {
      if (this.#engine.isBroken) this.#engine.close()
    }
  }

  async #replaced(): Promise<void> {
    if (this.#isClosed) throw new Error('the engine is not in use any more')
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
