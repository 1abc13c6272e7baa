import { flattenString, Memo } from '@sluice/core'
import { type Members, textIn } from './members.js'
import type { TextContext } from './pattern-rules.js'
import { textOf } from './pieces.js'
import type { NameRule } from './rules.js'
import { isUntouched, type redactedValue, takenValue, takingRule } from './text-redaction.js'

const CACHED_TEXTS = 1024
const MAX_CACHED_TEXT = 200

/** Redacts members of a record with the rules of one area. Values are texts or lists of texts. */
export class MemberRedaction {
  readonly #context: TextContext
  readonly #redacted: typeof redactedValue
  /** Checks of recurring texts. Texts are copied, because a slice would keep the whole batch in memory. */
  readonly #known = new Memo(CACHED_TEXTS, (text) => isUntouched(text, this.#context), flattenString)

  /** @param redacted Redacts a value whose name no rule matches. */
  constructor(context: TextContext, redacted: typeof redactedValue) {
    this.#context = context
    this.#redacted = redacted
  }

  /** Returns true if no rule can match in this text. */
  isUntouched(text: string): boolean {
    return text.length > MAX_CACHED_TEXT ? isUntouched(text, this.#context) : this.#known.get(text)
  }

  /** Redacts all members of an object. */
  redactAll(members: Members): void {
    const { rules } = this.#context
    const names = Object.keys(members)
    // Checking all texts at once is faster. Nothing is found in a part of them that is not found in all.
    const all = Object.values(members).map((value) => textsIn(value).join('\n'))
    if (names.every((name) => rules.named(name).length === 0) && this.isUntouched(all.join('\n'))) return
    for (const name of names) this.redact(members, name, name)
  }

  /** Redacts a member. @param ruleName Name for the rules, null if there are none for it. */
  redact(members: Members, name: string, ruleName: string | null): void {
    const value = members[name]
    if (this.#context.rules.isEmpty || value === undefined || value === null) return
    const texts = textsIn(value)
    const rule = ruleName === null ? null : takingRule(ruleName, this.#context)
    const left = texts.flatMap((text) => this.#left(text, rule) ?? [])
    if (left.length === 0 && texts.length > 0) delete members[name]
    else if (left.length < texts.length || left.some((text, i) => text !== texts[i]))
      members[name] = Array.isArray(value) ? left : left[0]
  }

  /** Returns the redacted text, or null if it is deleted. */
  #left(text: string, rule: NameRule | null): string | null {
    if (rule === null && this.isUntouched(text)) return text
    const found = { text, written: text, isUnquoted: false, isContainer: false }
    const pieces =
      rule === null ? this.#redacted(text, this.#context) : takenValue(rule, found, this.#context)
    if (pieces !== null) return textOf(pieces)
    return rule === null ? text : null
  }
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(textIn) : [textIn(value)]
}
