import { LiteralScan } from './literal-scan.js'
import type { Pattern } from './pattern.js'
import { requirementOf } from './required-literals.js'

/** A literal's position in the requirement of a pattern. */
interface Role {
  readonly pattern: number
  /** The bit of its group. */
  readonly bit: number
}

const NONE: readonly number[] = []

/**
 * Many patterns that are looked for at once. One pass over the text finds the literals that they need; only patterns
 * that have all they need are matched:
 *
 *     text ─► LiteralScan ─► which groups of literals were seen ─► candidates ─► Pattern.test
 *
 * Most texts have no candidate, and cost as much as one pass.
 */
export class PatternSet {
  readonly #patterns: readonly Pattern[]
  /** By the number of a literal. */
  readonly #roles: readonly (readonly Role[])[]
  readonly #scan: LiteralScan | null
  /** By pattern: the bits of all groups it needs, and those seen in this text. */
  readonly #needed: readonly number[]
  readonly #seen: Uint8Array
  readonly #isFound: Uint8Array
  readonly #onFound = (literal: number): void => {
    if (this.#isFound[literal] === 1) return
    this.#isFound[literal] = 1
    for (const { pattern, bit } of this.#roles[literal]!) this.#seen[pattern]! |= bit
  }

  constructor(patterns: readonly Pattern[]) {
    this.#patterns = patterns
    const roles = new Map<string, Role[]>()
    this.#needed = patterns.map(({ source }, pattern) => {
      const requirement = requirementOf(source)
      requirement.forEach((group, i) => {
        for (const literal of group) addTo(roles, literal, { pattern, bit: 1 << i })
      })
      return (1 << requirement.length) - 1
    })
    this.#roles = [...roles.values()]
    this.#scan = roles.size === 0 ? null : new LiteralScan([...roles.keys()])
    this.#isFound = new Uint8Array(roles.size)
    this.#seen = new Uint8Array(patterns.length)
  }

  /** The numbers of the patterns that are found in the text, in ascending order. */
  match(text: string): readonly number[] {
    this.#seen.fill(0)
    this.#isFound.fill(0)
    if (this.#scan !== null) this.#scan.scan(text, this.#onFound)
    let matches: number[] | null = null
    for (let i = 0; i < this.#patterns.length; i++) {
      if (this.#seen[i] !== this.#needed[i] || !this.#patterns[i]!.test(text)) continue
      matches ??= []
      matches.push(i)
    }
    return matches ?? NONE
  }
}

function addTo(roles: Map<string, Role[]>, literal: string, role: Role): void {
  const known = roles.get(literal)
  if (known === undefined) roles.set(literal, [role])
  else known.push(role)
}
