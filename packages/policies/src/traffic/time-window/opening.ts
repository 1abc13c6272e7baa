import type { Zone } from '@sluice/core'
import type { Windows } from './windows.js'

/** Time zone offsets change only at multiples of this, in milliseconds. */
const CHANGE_MS = 15 * 60_000
/** Limits of the search for the next opening: time ahead in milliseconds, and number of steps. */
const AHEAD_MS = 400 * 86_400_000
const MAX_STEPS = 5000

/**
 * Opening times of a policy. A result stays valid for an interval, within which a check costs two comparisons:
 *
 *     since ──────────── now ──────────── until      until: the next edge of a window, or the next time that
 *            isOpen                                  the offset may change
 */
export class Opening {
  readonly #windows: Windows
  readonly #zone: Zone
  /** True if requests pass within the windows. */
  readonly #isOpenWithin: boolean
  #isOpen = false
  #since = Number.POSITIVE_INFINITY
  #until = Number.NEGATIVE_INFINITY
  /** The next opening, as computed at `#seenFrom`. */
  #opensAt = Number.NEGATIVE_INFINITY
  #seenFrom = Number.POSITIVE_INFINITY

  constructor(windows: Windows, zone: Zone, isOpenWithin: boolean) {
    this.#windows = windows
    this.#zone = zone
    this.#isOpenWithin = isOpenWithin
  }

  isOpenAt(moment: number): boolean {
    if (moment >= this.#until || moment < this.#since) this.#refresh(moment)
    return this.#isOpen
  }

  /**
   * Returns the first open moment from this one on, or Infinity if there is none within the search limits.
   */
  opensAt(moment: number): number {
    if (moment < this.#seenFrom || moment >= this.#opensAt) {
      this.#opensAt = this.#search(moment)
      this.#seenFrom = moment
    }
    return this.#opensAt
  }

  #refresh(moment: number): void {
    const offset = this.#zone.offsetAt(moment)
    this.#isOpen = this.#isOpenAtLocal(moment + offset)
    this.#since = moment
    this.#until = Math.min(this.#windows.nextEdge(moment + offset) - offset, nextChange(moment))
  }

  #isOpenAtLocal(local: number): boolean {
    return this.#windows.has(local) === this.#isOpenWithin
  }

  #search(from: number): number {
    let moment = from
    let offset = this.#zone.offsetAt(moment)
    for (let step = 0; step < MAX_STEPS && moment < from + AHEAD_MS; step++) {
      if (this.#isOpenAtLocal(moment + offset)) return moment
      const edge = this.#windows.nextEdge(moment + offset) - offset
      const then = this.#zone.offsetAt(edge)
      // The offset changes somewhere before that edge. Small steps find the change.
      const next = then === offset ? edge : Math.min(edge, nextChange(moment))
      offset = next === edge ? then : this.#zone.offsetAt(next)
      moment = next
    }
    return Number.POSITIVE_INFINITY
  }
}

function nextChange(moment: number): number {
  return (Math.floor(moment / CHANGE_MS) + 1) * CHANGE_MS
}
