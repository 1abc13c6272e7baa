import { CharBase, type Expression, type NoParent } from 'refa'
import type { Effort } from './effort.js'
import { type Positions, positionsOf } from './positions.js'

/** Most steps that are spent on one expression: some 200 ms. */
const MAX_STEPS = 500_000

/** What it counts as to find that there are too many positions. */
const STEPS_OF_TOO_MANY = 100_000

/** How often each position is reached, in as many ways, by one text. */
type Ways = ReadonlyMap<number, number>

/**
 * In how many ways an expression can match the beginning of a text, at most, whatever the text: a matcher that tries
 * one way after the other takes as many steps for each character. Infinite when they are more than `limit`, or when it
 * takes too long to tell.
 */
export function widthOf(expression: NoParent<Expression>, limit: number, effort: Effort): number {
  const positions = positionsOf(expression)
  effort.spend(positions === null ? STEPS_OF_TOO_MANY : stepsOf(positions))
  if (positions === null) return Number.POSITIVE_INFINITY
  const width = widthOfPositions(positions, limit, effort)
  const { length } = positions.sets
  return width === Number.POSITIVE_INFINITY && length <= limit && isSingle(positions) ? length : width
}

/** What it counts as to find the positions of an expression, with the ways between them. */
function stepsOf({ sets, next }: Positions): number {
  return next.reduce((sum, tos) => sum + tos.length, sets.length * 20)
}

/** No text leads to a position in two ways: then they are as many as the positions at most, however they combine. */
function isSingle({ sets, first, next }: Positions): boolean {
  const seen = new Set<number>()
  const waiting: (readonly [from: readonly number[], or: readonly number[]])[] = []
  for (const tos of [first, ...next]) waiting.push([tos, tos])
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    const [tos, others] = pair
    if (tos === others && new Set(tos).size < tos.length) return false
    for (const to of tos) {
      for (const other of others) {
        if (to === other && tos !== others) return false
        const key = to * sets.length + other
        if (to === other || seen.has(key) || sets[to]!.isDisjointWith(sets[other]!)) continue
        seen.add(key)
        waiting.push([next[to]!, next[other]!])
      }
    }
  }
  return true
}

/** Walks over all that texts can lead to: as a DFA is made, but with the number of ways to each position. */
function widthOfPositions(positions: Positions, limit: number, effort: Effort): number {
  const successors = new Successors(positions, effort)
  const seen = new Set<string>()
  const waiting: Ways[] = [new Map([[START, 1]])]
  let widest = 1
  for (let ways = waiting.pop(); ways !== undefined; ways = waiting.pop()) {
    const reached = successors.of(ways)
    if (reached === null) return Number.POSITIVE_INFINITY
    for (const after of reached) {
      const width = [...after.values()].reduce((sum, count) => sum + count, 0)
      if (width > limit) return Number.POSITIVE_INFINITY
      widest = Math.max(widest, width)
      const key = keyOf(after)
      if (seen.has(key)) continue
      seen.add(key)
      waiting.push(after)
    }
  }
  return widest
}

/** Before the first character. */
const START = -1

class Successors {
  readonly #positions: Positions
  readonly #symbols: readonly (readonly number[])[]
  readonly #effort: Effort
  #steps = 0

  constructor(positions: Positions, effort: Effort) {
    this.#positions = positions
    this.#effort = effort
    this.#symbols = symbolsOf(positions)
  }

  /** What one more character leads to, for each that differs; null when it takes too long to tell. */
  of(ways: Ways): Iterable<Ways> | null {
    const { first, next } = this.#positions
    const before = this.#steps
    const reached = new Map<number, Map<number, number>>()
    for (const [position, count] of ways) {
      for (const to of position === START ? first : next[position]!) {
        for (const symbol of this.#symbols[to]!) {
          const after = reached.get(symbol) ?? new Map<number, number>()
          reached.set(symbol, after.set(to, (after.get(to) ?? 0) + count))
          this.#steps++
        }
      }
    }
    this.#effort.spend(this.#steps - before)
    if (this.#steps > MAX_STEPS) return null
    return reached.values()
  }
}

/** The characters that each position takes, as numbers of sets of which no two have a character in common. */
function symbolsOf({ sets }: Positions): readonly (readonly number[])[] {
  const base = new CharBase(sets)
  const known = new Map<string, readonly number[]>()
  return sets.map((set) => {
    const key = set.toRangesString()
    const symbols = known.get(key) ?? base.split(set)
    known.set(key, symbols)
    return symbols
  })
}

function keyOf(ways: Ways): string {
  return [...ways].sort(([first], [second]) => first - second).join(';')
}
