/** No slot; marks the end of a list. */
export const NONE = -1

const NUMBERS = 4
const LINKS = 2
const FIRST_CAPACITY = 256

/**
 * Array of slots with four numbers each and a list in order of use. Typed arrays, because a million objects
 * with three doubles each would take 200 MB. The numbers of a slot start at `numbers[4 * slot]`.
 */
export class Slots {
  numbers = new Float64Array(NUMBERS * FIRST_CAPACITY)
  /** The least recently used slot, or NONE. */
  oldest = NONE
  /** Number of slots ever allocated, including free ones. */
  end = 0
  #newest = NONE
  #links = new Int32Array(LINKS * FIRST_CAPACITY)
  #free = NONE

  /** Allocates a slot and marks it as most recently used. Its numbers are not reset. */
  take(): number {
    let slot = this.#free
    if (slot === NONE) slot = this.#append()
    else this.#free = this.#links[LINKS * slot]!
    this.#pushNewest(slot)
    return slot
  }

  free(slot: number): void {
    this.#unlink(slot)
    this.#links[LINKS * slot] = this.#free
    this.#free = slot
  }

  /** Marks a slot as most recently used. */
  touch(slot: number): void {
    if (slot === this.#newest) return
    this.#unlink(slot)
    this.#pushNewest(slot)
  }

  #append(): number {
    const capacity = this.#links.length / LINKS
    if (this.end === capacity) this.#grow(capacity * 2)
    return this.end++
  }

  #grow(capacity: number): void {
    const numbers = new Float64Array(NUMBERS * capacity)
    numbers.set(this.numbers)
    this.numbers = numbers
    const links = new Int32Array(LINKS * capacity)
    links.set(this.#links)
    this.#links = links
  }

  #pushNewest(slot: number): void {
    this.#links[LINKS * slot] = this.#newest
    this.#links[LINKS * slot + 1] = NONE
    if (this.#newest === NONE) this.oldest = slot
    else this.#links[LINKS * this.#newest + 1] = slot
    this.#newest = slot
  }

  #unlink(slot: number): void {
    const older = this.#links[LINKS * slot]!
    const newer = this.#links[LINKS * slot + 1]!
    if (older === NONE) this.oldest = newer
    else this.#links[LINKS * older + 1] = newer
    if (newer === NONE) this.#newest = older
    else this.#links[LINKS * newer] = older
  }
}
