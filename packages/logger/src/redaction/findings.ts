import type { TypeRule } from './rules.js'

/** What the rules have found in one record. */
export class Findings {
  readonly #rules = new Set<string>()
  readonly #detected = new Set<string>()
  #failed = ''

  get isEmpty(): boolean {
    return this.#rules.size === 0 && this.#failed === ''
  }

  add(rule: { readonly id: string }): void {
    this.#rules.add(rule.id)
  }

  addType(rule: TypeRule): void {
    this.#rules.add(rule.id)
    this.#detected.add(rule.type)
  }

  /** Something had to be left out, because no rule could look into it. */
  fail(reason: string): void {
    this.#failed = reason
  }

  /** The record's member `privacy`; what is empty is left out. */
  member(): object {
    return {
      ...(this.#rules.size === 0 ? {} : { rules: [...this.#rules] }),
      ...(this.#detected.size === 0 ? {} : { detected: [...this.#detected] }),
      ...(this.#failed === '' ? {} : { failed: this.#failed }),
    }
  }
}
