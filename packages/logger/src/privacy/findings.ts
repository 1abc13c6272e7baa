import type { TypeRule } from './rules.js'

/** What the rules have found in one record. */
export class Findings {
  readonly #rules = new Set<string>()
  readonly #detected = new Set<string>()

  get isEmpty(): boolean {
    return this.#rules.size === 0
  }

  add(rule: { readonly id: string }): void {
    this.#rules.add(rule.id)
  }

  addType(rule: TypeRule): void {
    this.#rules.add(rule.id)
    this.#detected.add(rule.type)
  }

  /** The record's member `privacy`. */
  member(): { readonly rules: readonly string[]; readonly detected: readonly string[] } {
    return { rules: [...this.#rules], detected: [...this.#detected] }
  }
}
