import { MASK } from '@sluice/core'
import { type DecodePass, readingsOf } from '../../shared/text/decode.js'
import { PatternSet } from '../../shared/text/pattern-set.js'
import type { Rule } from './rules.js'

const NONE: readonly Rule[] = []

/** Rules that use the same decoding steps. */
interface Group {
  readonly passes: readonly DecodePass[]
  readonly rules: readonly Rule[]
  readonly patterns: PatternSet
}

/** Matches rules against texts in all their decoded forms. */
class Finder {
  readonly #groups: readonly Group[]
  readonly #rounds: number

  constructor(rules: readonly Rule[], rounds: number) {
    const byPasses = new Map<string, Rule[]>()
    for (const rule of rules) {
      const key = rule.decode.join()
      byPasses.set(key, [...(byPasses.get(key) ?? []), rule])
    }
    this.#groups = [...byPasses.values()].map((group) => ({
      passes: group[0]!.decode,
      rules: group,
      patterns: new PatternSet(group.map(({ pattern }) => pattern)),
    }))
    this.#rounds = rounds
  }

  /** Returns the matching rules without duplicates. @param isForm true if `+` may stand for a space. */
  find(text: string, isForm = false): readonly Rule[] {
    if (text === '') return NONE
    let found = NONE
    for (let i = 0; i < this.#groups.length; i++) found = this.#findGroup(this.#groups[i]!, text, found)
    if (!isForm || !text.includes('+')) return found
    const spaced = text.replaceAll('+', ' ')
    for (let i = 0; i < this.#groups.length; i++) found = this.#findGroup(this.#groups[i]!, spaced, found)
    return found
  }

  #findGroup({ passes, rules, patterns }: Group, text: string, before: readonly Rule[]): readonly Rule[] {
    let found = before
    for (const reading of readingsOf(text, passes, this.#rounds)) {
      for (const number of patterns.match(reading)) {
        const rule = rules[number]!
        if (!found.includes(rule)) found = [...found, rule]
      }
    }
    return found
  }
}

/** Finders of a message. Targets with the same rules share one, because its tables are large. */
export class Finders {
  readonly #rules: readonly Rule[]
  readonly #rounds: number
  readonly #made = new Map<string, Finder>()

  constructor(rules: readonly Rule[], rounds: number) {
    this.#rules = rules
    this.#rounds = rounds
  }

  /**
   * Returns the finder for rules with one of these targets, or null if there are none. Targets except JSON
   * paths are in lower case.
   */
  of(...targets: readonly string[]): Finder | null {
    const meant = this.#rules.filter((rule) => rule.targets.some((target) => targets.includes(target)))
    if (meant.length === 0) return null
    const key = meant.map((rule) => this.#rules.indexOf(rule)).join()
    const made = this.#made.get(key) ?? new Finder(meant, this.#rounds)
    this.#made.set(key, made)
    return made
  }
}

/** True if one of the rules changes the text it matches. */
export function changes(rules: readonly Rule[]): boolean {
  return rules.some(({ action }) => action === 'remove' || action === 'mask')
}

/**
 * Applies the matching rules to a value. Returns null if the value is removed. A value with escapes is masked
 * as a whole.
 */
export function changed(value: string, found: readonly Rule[]): string | null {
  let text = value
  for (const { action, pattern, decode } of found) {
    if (action === 'remove') return null
    if (action !== 'mask') continue
    const isPlain = readingsOf(text, decode, 1).length === 1
    text = (isPlain ? pattern.replaced(text, () => MASK) : null) ?? MASK
  }
  return text
}

/** Applies the matching rules to a plain text body. Returns null if an encoded match remains. */
export function changedText(text: string, found: readonly Rule[], finder: Finder): string | null {
  const changing = found.filter((rule) => changes([rule]))
  let rest = text
  for (const { action, pattern } of changing)
    rest = pattern.replaced(rest, () => (action === 'mask' ? MASK : '')) ?? rest
  const left = finder.find(rest)
  return changing.some((rule) => left.includes(rule)) ? null : rest
}

export type { Finder }
