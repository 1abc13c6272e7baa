import { performance } from 'node:perf_hooks'

/** The monotonic clock as it was when the turn began, ms; 0 outside of turns, and from the first policy on. */
let turnMono = 0

/**
 * What happens in one go, such as the requests that leave together, is one turn: its deadlines need no readings of their
 * own, each of which costs as much as the deadline. A turn is left with `endTurn` in any case, because a reading that
 * stayed would let deadlines fall due early.
 */
export function beginTurn(): number {
  turnMono = performance.now()
  return turnMono
}

export function endTurn(): void {
  turnMono = 0
}

/** The clock for deadlines, ms: that of the turn, or read now where there is none. */
export function deadlineMono(): number {
  return turnMono === 0 ? performance.now() : turnMono
}
