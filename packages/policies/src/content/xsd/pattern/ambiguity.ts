import { CharSet, type Concatenation, type Element, type Expression, type NoParent } from 'refa'
import { MAX_CHAR } from './char-classes.js'

/** Maximum number of match paths for patterns without repetition that are tried on the event loop. */
const MAX_WAYS = 1000
/** Limit for the analysis: positions that take a character, and transitions between them. */
const MAX_STEPS = 100_000

/**
 * Returns true if a backtracking matcher may take long, because some text can match in more than one way:
 * `(a|aa)+b`. Also true for patterns that are too large to analyse.
 */
export function mayBacktrack(expression: NoParent<Expression>): boolean {
  return waysOf(expression.alternatives) > MAX_WAYS && !isDeterministic(expression)
}

/** Returns the maximum number of match paths for any text. Infinity if a repetition has no fixed count. */
function waysOf(alternatives: readonly NoParent<Concatenation>[]): number {
  return alternatives.reduce(
    (sum, { elements }) => sum + elements.reduce((ways, element) => ways * waysOfElement(element), 1),
    0,
  )
}

function waysOfElement(element: NoParent<Element>): number {
  if (element.type === 'Alternation') return waysOf(element.alternatives)
  if (element.type !== 'Quantifier') return 1
  const { alternatives, min, max } = element
  if (min === max) return waysOf(alternatives) ** min
  return max === 1 ? 1 + waysOf(alternatives) : Number.POSITIVE_INFINITY
}

/** Returns true if the next character always determines the position in the pattern. */
function isDeterministic({ alternatives }: NoParent<Expression>): boolean {
  try {
    const positions = new Positions()
    const { first } = positions.choice(alternatives)
    return positions.next.every(areDisjoint) && areDisjoint(first)
  } catch (problem) {
    if (problem instanceof Ambiguous) return false
    throw problem
  }
}

function areDisjoint(sets: readonly CharSet[]): boolean {
  let all = CharSet.empty(MAX_CHAR)
  for (const set of sets) {
    if (!set.isDisjointWith(all)) return false
    all = all.union(set)
  }
  return true
}

class Ambiguous extends Error {}

/** A part of a pattern: its possible first characters, the positions of its ends, and if it can be empty. */
interface Part {
  readonly first: readonly CharSet[]
  readonly last: readonly number[]
  readonly isOptional: boolean
}

const EMPTY: Part = { first: [], last: [], isOptional: true }

/** Positions of a pattern that take a character, and their possible successors (Glushkov automaton). */
class Positions {
  readonly next: CharSet[][] = []
  #steps = 0

  choice(alternatives: readonly NoParent<Concatenation>[]): Part {
    this.#spend(1)
    const parts = alternatives.map(({ elements }) =>
      elements.reduce<Part>((before, element) => this.#joined(before, this.#element(element)), EMPTY),
    )
    return {
      first: parts.flatMap(({ first }) => first),
      last: parts.flatMap(({ last }) => last),
      isOptional: parts.some(({ isOptional }) => isOptional),
    }
  }

  #element(element: NoParent<Element>): Part {
    if (element.type === 'Alternation') return this.choice(element.alternatives)
    if (element.type === 'Quantifier') return this.#repeated(element)
    if (element.type !== 'CharacterClass') throw new Error(`unexpected pattern element ${element.type}`)
    this.#spend(1)
    return { first: [element.characters], last: [this.next.push([]) - 1], isOptional: false }
  }

  #repeated({ alternatives, min, max }: NoParent<Element> & { type: 'Quantifier' }): Part {
    if (max === 0) return EMPTY
    const part = this.choice(alternatives)
    if (max > 1) {
      if (part.isOptional) throw new Ambiguous()
      // For a fixed count, two copies show all transitions. Otherwise any copy may be the last.
      if (min === max) return this.#joined(part, this.choice(alternatives))
      this.#link(part.last, part.first)
    }
    return min === 0 ? { ...part, isOptional: true } : part
  }

  #joined(before: Part, after: Part): Part {
    this.#link(before.last, after.first)
    return {
      first: before.isOptional ? [...before.first, ...after.first] : before.first,
      last: after.isOptional ? [...before.last, ...after.last] : after.last,
      isOptional: before.isOptional && after.isOptional,
    }
  }

  #link(from: readonly number[], to: readonly CharSet[]): void {
    this.#spend(from.length * to.length)
    for (const position of from) this.next[position]!.push(...to)
  }

  #spend(steps: number): void {
    this.#steps += steps
    if (this.#steps > MAX_STEPS) throw new Ambiguous()
  }
}
