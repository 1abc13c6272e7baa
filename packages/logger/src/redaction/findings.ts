import type { TypeRule } from './rules.js'

/** Rules that matched in one record. */
export class Findings {
  readonly #rules = new Set<string>()
  readonly #detected = new Set<string>()
  #failed = ''

  get isEmpty(): boolean {
    return this.#rules.size === 0 && this.#failed === ''
  }

  clear(): void {
    if (this.isEmpty) return
    this.#rules.clear()
    this.#detected.clear()
    this.#failed = ''
  }

  add(rule: { readonly id: string }): void {
    this.#rules.add(rule.id)
  }

  addType(rule: TypeRule): void {
    this.#rules.add(rule.id)
    this.#detected.add(rule.type)
  }

  /** Records that content was removed because no rule could read it. */
  fail(reason: string): void {
    this.#failed = reason
  }

  /** Returns the record's `privacy` member, without empty parts. */
  member(): object {
    return {
      ...(this.#rules.size === 0 ? {} : { rules: [...this.#rules] }),
      ...(this.#detected.size === 0 ? {} : { detected: [...this.#detected] }),
      ...(this.#failed === '' ? {} : { failed: this.#failed }),
    }
  }
}
