import { LiteralScan } from './literal-scan.js'
import type { Pattern } from './pattern.js'
import { requirementOf } from './required-literals.js'

/** Position of a literal in the requirement of a pattern. */
interface Role {
  readonly pattern: number
  /** Bit of its group. */
  readonly bit: number
}

const NONE: readonly number[] = []

/**
 * Matches many patterns at once. One pass over the text finds their required literals. Only patterns with all
 * required literals are tested:
 *
 *     text ─► LiteralScan ─► groups of literals that occur ─► candidates ─► Pattern.test
 *
 * Most texts have no candidate and cost only the pass.
 */
export class PatternSet {
  readonly #patterns: readonly Pattern[]
  /** Roles of each literal, by index. */
  readonly #roles: readonly (readonly Role[])[]
  readonly #scan: LiteralScan | null
  /** By pattern: bits of all required groups, and of those seen in the current text. */
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

  /** Returns the indexes of the matching patterns in ascending order. */
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
