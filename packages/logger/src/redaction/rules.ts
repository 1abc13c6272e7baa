import {
  compileRegex,
  type FindValues,
  MASK,
  Memo,
  partlyMasked,
  type Regex,
  VALUE_TYPES,
  type ValueTypeName,
} from '@sluice/core'
import { LogKey } from './log-key.js'
import { open, type Piece } from './piece.js'
import type { MaskShape, PrivacyArea, PrivacyOptions, PrivacyRule } from './privacy-options.js'

/** A value that a rule has found. */
export interface Found {
  /** What is meant. */
  readonly text: string
  /** What is written, as far out as the record's own text: what decrypting has to bring back. */
  readonly written: string
  /** A number, or an object: what takes its place needs quotes. */
  readonly isUnquoted: boolean
  /** It has parts of its own. */
  readonly isContainer: boolean
}

/** What a rule does with what it finds. */
export type Action = 'detect' | 'delete' | ((found: Found) => Piece)

interface CompiledRule {
  readonly id: string
  readonly action: Action
}

/** A rule that finds by name. */
export type NameRule = CompiledRule
/** A rule that finds by type. */
export interface TypeRule extends CompiledRule {
  readonly type: ValueTypeName
  readonly find: FindValues
}
/** A rule that finds by a regular expression; of one with groups, the first group is the value. */
export interface RegexRule extends CompiledRule {
  readonly regex: Regex
}

const REMEMBERED_NAMES = 4096
const NO_RULES: readonly NameRule[] = []

/** The rules for one part of a record. */
export class AreaRules {
  readonly types: readonly TypeRule[]
  readonly regexes: readonly RegexRule[]
  /** Some rule does more than to detect. */
  readonly isProtecting: boolean
  /** Every name, in lower case. */
  readonly names: readonly string[]
  readonly #anyName: RegExp
  readonly #byName = new Map<string, NameRule[]>()
  readonly #answers = new Memo<readonly NameRule[]>(
    REMEMBERED_NAMES,
    (name) => this.#byName.get(name.toLowerCase()) ?? NO_RULES,
  )

  constructor(rules: readonly PrivacyRule[], key: LogKey | null) {
    const types: TypeRule[] = []
    const regexes: RegexRule[] = []
    for (const rule of rules) {
      const { id, find } = rule
      const action = actionOf(rule, key)
      if ('type' in find) types.push({ id, action, type: find.type, find: VALUE_TYPES[find.type] })
      else if ('regex' in find) regexes.push({ id, action, regex: compileRegex(find.regex) })
      else for (const name of find.names) this.#addName(name.toLowerCase(), { id, action })
    }
    this.isProtecting = rules.some((rule) => rule.do !== 'detect')
    this.types = types
    this.regexes = regexes
    this.names = [...this.#byName.keys()]
    this.#anyName = new RegExp(this.names.map(escapedForRegex).join('|'))
  }

  get isEmpty(): boolean {
    return this.types.length === 0 && this.regexes.length === 0 && this.names.length === 0
  }

  /** Whether one of the names stands somewhere in a text without escapes; most texts have none. */
  occursIn(text: string): boolean {
    return this.names.length > 0 && this.#anyName.test(text.toLowerCase())
  }

  /** The rules for values under this name, in the order of the document; case does not matter. */
  named(name: string): readonly NameRule[] {
    return this.names.length === 0 ? NO_RULES : this.#answers.get(name)
  }

  #addName(name: string, rule: NameRule): void {
    const rules = this.#byName.get(name)
    if (rules === undefined) this.#byName.set(name, [rule])
    else rules.push(rule)
  }
}

/** The rules by part of the record. @throws Error when a rule has no key to work with, or its regex does not compile. */
export function compileRules({ keys, rules }: PrivacyOptions): Readonly<Record<PrivacyArea, AreaRules>> {
  const first = keys[0]
  const key = first === undefined ? null : new LogKey(first.id, first.secret)
  const area = (name: PrivacyArea): AreaRules =>
    new AreaRules(
      rules.filter((rule) => rule.in.includes(name)),
      key,
    )
  return { headers: area('headers'), query: area('query'), body: area('body'), vars: area('vars') }
}

/** A text as a regular expression that matches it. */
export function escapedForRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

function actionOf(rule: PrivacyRule, key: LogKey | null): Action {
  if (rule.do === 'detect' || rule.do === 'delete') return rule.do
  if (rule.do === 'mask') return (found) => maskOf(rule, found)
  if (key === null) throw new Error(`the privacy rule '${rule.id}' needs a key`)
  if (rule.do === 'hash') return ({ text }) => ({ text: key.hash(text), isOpaque: true })
  return ({ written, isUnquoted }) => ({ text: key.encrypt(written, isUnquoted), isOpaque: true })
}

function maskOf({ shape }: PrivacyRule, { text, isContainer }: Found): Piece {
  const partly = isContainer ? null : maskedBy(shape, text)
  // What stays of the value is looked at again, because it may hold what another rule forbids.
  return partly === null ? { text: MASK, isOpaque: true } : open(partly)
}

/** Only `maskFirst` shows as many asterisks as it hides characters, because its number is known. */
function maskedBy({ kind, count }: MaskShape, text: string): string | null {
  if (kind !== 'maskFirst') {
    const [keepFirst, keepLast] = [kind === 'keepFirst' ? count : 0, kind === 'keepLast' ? count : 0]
    return partlyMasked(text, { keepFirst, keepLast, leastHidden: 1 })
  }
  const characters = [...text]
  return count >= characters.length ? null : '*'.repeat(count) + characters.slice(count).join('')
}
