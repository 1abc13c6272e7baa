/** So many different things in a row are kept before a place is given up. */
const PATIENCE = 8

/**
 * Tells which places of a memory are worth writing to. A place that found something else time and again holds what is
 * different in every message; from then on only one in each round of its counter is kept, in case that changes.
 */
export class Patience {
  readonly #misses: Uint8Array

  constructor(places: number) {
    this.#misses = new Uint8Array(places)
  }

  /** What the place holds has come again. */
  renew(place: number): void {
    this.#misses[place] = 0
  }

  /** Something else has come; whether the place should hold that from now on. */
  isWorthKeeping(place: number): boolean {
    const misses = (this.#misses[place]! + 1) & 0xff
    this.#misses[place] = misses === 0 ? PATIENCE : misses
    return misses <= PATIENCE
  }
}
