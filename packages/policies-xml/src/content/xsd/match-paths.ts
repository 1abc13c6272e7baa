import { CharSet, type Concatenation, type Element, type Expression, type NoParent } from 'refa'
import type { TranslatedPattern } from './pattern-translation.js'

/** Highest code point. */
const MAX_CHAR = 0x10ffff
/** Maximum number of match paths for patterns without repetition that are tried on the event loop. */
const MAX_WAYS = 1000
/** Limit for the analysis: positions that take a character, and transitions between them. */
const MAX_STEPS = 100_000
/** Message for patterns that exceed a limit. */
export const TOO_LARGE = 'is too large to check: split it into several patterns'

/** What is known about the possible matches of a pattern. */
export interface PathIssue {
  /** Why libxml2 may choose a wrong match, or null. */
  readonly issue: string | null
  /** True if libxml2 confuses an atom with a count, such as `a{2}`, and another one that may come in its place. */
  readonly hasCountClash: boolean
  /**
   * True if a backtracking matcher may take long, because some text can match in more than one way: `(a|aa)+b`. Also
   * true for patterns that are too large to analyse, which are refused if they have anything that libxml2 may misread.
   */
  readonly mayBacktrack: boolean
}

/** Finds out if some text can match in several ways, and if libxml2 would then try only one of them. */
export function findPathIssue(
  { alternatives }: NoParent<Expression>,
  { atoms, source, isInexact }: TranslatedPattern,
): PathIssue {
  const positions = new Positions(atoms, source)
  const { first } = positions.choice(alternatives, NOT_COUNTED)
  if (positions.isTooLarge) {
    const issue = mayBeMisread([...atoms.values()], source) ? TOO_LARGE : null
    return { issue, hasCountClash: true, mayBacktrack: true }
  }
  const choices = [first, ...positions.next].filter((choice) => !areDisjoint(choice))
  const isAmbiguous = isInexact || positions.isAmbiguous || choices.length > 0
  const issues = choices.map((choice) => misreadGroup(choice) ?? misreadPair(choice))
  return {
    issue: issues.find((issue) => issue !== null) ?? null,
    hasCountClash: choices.some((choice) => choice.some(({ counted }) => counted.isAtom)),
    mayBacktrack: isAmbiguous && waysOf(alternatives) > MAX_WAYS,
  }
}

/** Returns true if a pattern has anything for which libxml2 might choose a wrong match. */
function mayBeMisread(atoms: readonly string[], source: string): boolean {
  const hasDigitsAndWords = atoms.includes('\\d') && atoms.includes('\\w')
  return hasDigitsAndWords || source.includes('){') || atoms.some((atom) => INVERSE.test(atom))
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

/** A character or class of a pattern. */
interface Atom {
  /** Position in the pattern, the same for all copies of a repeated atom. */
  readonly at: number
  readonly text: string
  readonly characters: CharSet
  readonly counted: Counted
}

/** Counts in braces that apply to an atom: to itself, or to a group around it. */
interface Counted {
  readonly isAtom: boolean
  readonly isGroup: boolean
}

const NOT_COUNTED: Counted = { isAtom: false, isGroup: false }

function areDisjoint(atoms: readonly Atom[]): boolean {
  let all = CharSet.empty(MAX_CHAR)
  for (const { characters } of atoms) {
    if (!characters.isDisjointWith(all)) return false
    all = all.union(characters)
  }
  return true
}

/** Returns why libxml2 loses count of a group, or null. */
function misreadGroup(choice: readonly Atom[]): string | null {
  const counted = choice.find(({ counted }) => counted.isGroup)
  if (counted === undefined) return null
  return `has a group with a count, and '${counted.text}' in it does not decide how the group continues: write the group several times`
}

/** Returns why libxml2 misreads two of the atoms that may come next, or null. */
function misreadPair(choice: readonly Atom[]): string | null {
  const atoms = [...new Map(choice.map((atom) => [atom.text, atom])).values()]
  for (const [i, one] of atoms.entries()) {
    const other = atoms.slice(i + 1).find((next) => isMiscompared(one, next))
    if (other !== undefined)
      return `has '${one.text}' and '${other.text}' in the same place, where libxml2 tries only one of them: write inverse classes as ranges, or a pattern in which the next character decides`
  }
  return null
}

/** Matches inverse classes for which libxml2 does not find common characters with other classes. */
const INVERSE = /^(?:\[\^|\\P)|^\[.*\\[SDWIC]/s

function isMiscompared(one: Atom, other: Atom): boolean {
  const texts = [one.text, other.text]
  const isSuspect = texts.some((text) => INVERSE.test(text)) || texts.sort().join() === '\\d,\\w'
  return isSuspect && !one.characters.isDisjointWith(other.characters)
}

/** A part of a pattern: its possible first atoms, the positions of its ends, and if it can be empty. */
interface Part {
  readonly first: readonly Atom[]
  readonly last: readonly number[]
  readonly isOptional: boolean
}

const EMPTY: Part = { first: [], last: [], isOptional: true }

/** Positions of a pattern that take a character, and the atoms that may come next (Glushkov automaton). */
class Positions {
  readonly next: Atom[][] = []
  isAmbiguous = false
  /** True if the limit was reached, so that some transitions are missing. */
  isTooLarge = false
  readonly #atoms: ReadonlyMap<number, string>
  readonly #source: string
  #steps = 0

  constructor(atoms: ReadonlyMap<number, string>, source: string) {
    this.#atoms = atoms
    this.#source = source
  }

  choice(alternatives: readonly NoParent<Concatenation>[], counted: Counted): Part {
    if (!this.#spend(1)) return EMPTY
    const parts = alternatives.map(({ elements }) =>
      elements.reduce<Part>(
        (before, element) => this.#joined(before, this.#element(element, counted)),
        EMPTY,
      ),
    )
    return {
      first: parts.flatMap(({ first }) => first),
      last: parts.flatMap(({ last }) => last),
      isOptional: parts.some(({ isOptional }) => isOptional),
    }
  }

  #element(element: NoParent<Element>, counted: Counted): Part {
    if (element.type === 'Alternation') return this.choice(element.alternatives, counted)
    if (element.type === 'Quantifier') return this.#repeated(element, counted)
    if (element.type !== 'CharacterClass') throw new Error(`unexpected pattern element ${element.type}`)
    if (!this.#spend(1)) return EMPTY
    const at = element.source!.start
    const atom = { at, text: this.#atoms.get(at)!, characters: element.characters, counted }
    return { first: [atom], last: [this.next.push([]) - 1], isOptional: false }
  }

  #repeated(
    { alternatives, min, max, source }: NoParent<Element> & { type: 'Quantifier' },
    outer: Counted,
  ): Part {
    if (max === 0) return EMPTY
    const isCounted = this.#source[source!.end - 2] === '}'
    const isAtom = source!.start === alternatives[0]?.elements[0]?.source?.start
    const counted = { isAtom: isCounted && isAtom, isGroup: outer.isGroup || (isCounted && !isAtom) }
    const part = this.choice(alternatives, counted)
    if (max > 1) {
      if (part.isOptional) this.isAmbiguous = true
      // For a fixed count, two copies show all transitions. Otherwise any copy may be the last.
      if (min === max) return this.#joined(part, this.choice(alternatives, counted))
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

  #link(from: readonly number[], to: readonly Atom[]): void {
    if (!this.#spend(from.length * to.length)) return
    for (const position of from) this.next[position]!.push(...to)
  }

  #spend(steps: number): boolean {
    this.#steps += steps
    if (this.#steps > MAX_STEPS) this.isTooLarge = true
    return !this.isTooLarge
  }
}
