import type { Zone } from '@sluice/core'
import type { Windows } from './windows.js'

/** Clocks are changed at moments that are a multiple of this, everywhere and since long ago. */
const CHANGE_MS = 15 * 60_000
/** How far ahead the next opening is looked for: in time, and in steps of the search. */
const AHEAD_MS = 400 * 86_400_000
const MAX_STEPS = 5000

/**
 * Whether requests pass, as a function of the moment. The answer holds for a stretch of time, within which it costs two
 * comparisons:
 *
 *     since ──────────── now ──────────── until      until: the next edge of a window, or the next moment at which
 *            isOpen                                  clocks may be changed
 */
export class Opening {
  readonly #windows: Windows
  readonly #zone: Zone
  /** What it is within the windows. */
  readonly #isOpenWithin: boolean
  #isOpen = false
  #since = Number.POSITIVE_INFINITY
  #until = Number.NEGATIVE_INFINITY
  /** The next opening, as it was seen from `#seenFrom`. */
  #opensAt = Number.NEGATIVE_INFINITY
  #seenFrom = Number.POSITIVE_INFINITY

  constructor(windows: Windows, zone: Zone, isOpenWithin: boolean) {
    this.#windows = windows
    this.#zone = zone
    this.#isOpenWithin = isOpenWithin
  }

  isOpenAt(moment: number): boolean {
    if (moment >= this.#until || moment < this.#since) this.#look(moment)
    return this.#isOpen
  }

  /** The first moment from this one on that is open; infinite when there is none for long. */
  opensAt(moment: number): number {
    if (moment < this.#seenFrom || moment >= this.#opensAt) {
      this.#opensAt = this.#search(moment)
      this.#seenFrom = moment
    }
    return this.#opensAt
  }

  #look(moment: number): void {
    const offset = this.#zone.offsetAt(moment)
    this.#isOpen = this.#isOpenOnWall(moment + offset)
    this.#since = moment
    this.#until = Math.min(this.#windows.nextEdge(moment + offset) - offset, nextChange(moment))
  }

  #isOpenOnWall(wall: number): boolean {
    return this.#windows.has(wall) === this.#isOpenWithin
  }

  #search(from: number): number {
    let moment = from
    let offset = this.#zone.offsetAt(moment)
    for (let step = 0; step < MAX_STEPS && moment < from + AHEAD_MS; step++) {
      if (this.#isOpenOnWall(moment + offset)) return moment
      const edge = this.#windows.nextEdge(moment + offset) - offset
      const then = this.#zone.offsetAt(edge)
      // Somewhere before that edge the clocks are changed: small steps find where.
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
