import type { CharSet, Concatenation, Element, Expression, NoParent } from 'refa'

/**
 * The places of a pattern that take a character, and where each leads (the automaton of Glushkov). `(a|ab)*c`:
 *
 *     start ─┬─► a1 ──────────┬─► c4 ─► end
 *            ├─► a2 ─► b3 ────┤
 *            └───◄────────────┘
 */
export interface Positions {
  readonly sets: readonly CharSet[]
  /** Those where a text can begin. */
  readonly first: readonly number[]
  /** Where each leads; one that stands there twice is reached in two ways. */
  readonly next: readonly (readonly number[])[]
}

/** Most positions that are looked at. */
const MAX_POSITIONS = 4000
/** Most ways from one position to the next, over all of them. */
const MAX_EDGES = 100_000
/** A part that repeats more often than this counts as one that repeats without end, which has no fewer ways. */
const MANY = 128

/** The positions of an expression; null when they are too many. */
export function positionsOf({ alternatives }: NoParent<Expression>): Positions | null {
  const builder = new PositionBuilder()
  try {
    const { first } = builder.choice(alternatives, false)
    return { sets: builder.sets, first, next: builder.next }
  } catch (problem) {
    if (problem instanceof TooManyPositions) return null
    throw problem
  }
}

class TooManyPositions extends Error {}

/** A part of the expression: where it begins and ends, and whether it can be empty. */
interface Part {
  readonly first: readonly number[]
  readonly last: readonly number[]
  readonly isOptional: boolean
}

const EMPTY: Part = { first: [], last: [], isOptional: true }

class PositionBuilder {
  readonly sets: CharSet[] = []
  readonly next: number[][] = []
  #edges = 0
  #choices = 0

  /** @param isRepeated an outer part repeats it. */
  choice(alternatives: readonly NoParent<Concatenation>[], isRepeated: boolean): Part {
    // Groups without a character are no positions, and can be repeated without end as well.
    if (++this.#choices > MAX_POSITIONS) throw new TooManyPositions()
    const parts = alternatives.map(({ elements }) =>
      elements.reduce<Part>(
        (before, element) => this.#joined(before, this.#element(element, isRepeated)),
        EMPTY,
      ),
    )
    return {
      first: parts.flatMap(({ first }) => first),
      last: parts.flatMap(({ last }) => last),
      isOptional: parts.some(({ isOptional }) => isOptional),
    }
  }

  #element(element: NoParent<Element>, isRepeated: boolean): Part {
    if (element.type === 'CharacterClass') return this.#position(element.characters)
    if (element.type === 'Alternation') return this.choice(element.alternatives, isRepeated)
    if (element.type !== 'Quantifier') throw new Error(`no pattern has ${element.type}`)
    const { alternatives, min, max } = element
    const isMany = !isRepeated && Number.isFinite(max) && max > MANY
    const body = () => this.choice(alternatives, isRepeated || max > 1)
    return this.#repeated(
      body,
      Math.min(min, isRepeated ? min : MANY),
      isMany ? Number.POSITIVE_INFINITY : max,
    )
  }

  /** `xxx*` for `x{2,}`, and `xx(x(x)?)?` for `x{2,4}`, which has one way for each count. */
  #repeated(body: () => Part, min: number, max: number): Part {
    if (max === 0) return EMPTY
    let whole = EMPTY
    for (let i = 1; i < min; i++) whole = this.#joined(whole, body())
    if (max === Number.POSITIVE_INFINITY) {
      const loop = body()
      this.#link(loop.last, loop.first)
      return this.#joined(whole, min === 0 ? { ...loop, isOptional: true } : loop)
    }
    if (min > 0) whole = this.#joined(whole, body())
    return this.#joined(whole, this.#upTo(body, max - min))
  }

  #upTo(body: () => Part, times: number): Part {
    const copies = Array.from({ length: times }, body)
    return copies.reduceRight<Part>(
      (rest, copy) => ({ ...this.#joined(copy, rest), isOptional: true }),
      EMPTY,
    )
  }

  #position(characters: CharSet): Part {
    const position = this.sets.push(characters) - 1
    if (position >= MAX_POSITIONS) throw new TooManyPositions()
    this.next.push([])
    return { first: [position], last: [position], isOptional: false }
  }

  #joined(before: Part, after: Part): Part {
    this.#link(before.last, after.first)
    return {
      first: before.isOptional ? [...before.first, ...after.first] : before.first,
      last: after.isOptional ? [...before.last, ...after.last] : after.last,
      isOptional: before.isOptional && after.isOptional,
    }
  }

  #link(from: readonly number[], to: readonly number[]): void {
    this.#edges += from.length * to.length
    if (this.#edges > MAX_EDGES) throw new TooManyPositions()
    for (const position of from) this.next[position]!.push(...to)
  }
}
