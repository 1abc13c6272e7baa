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
import { escapedForRegex } from './formats/syntax.js'
import { LogKey } from './log-key.js'
import { openPiece, type Piece } from './pieces.js'
import type { MaskShape, PrivacyArea, PrivacyOptions, PrivacyRule } from './privacy-options.js'
import { SuspectSigns } from './suspects.js'

/** A value that a rule has found. */
export interface Found {
  /** The decoded value. */
  readonly text: string
  /** The value as it appears in the outermost text. Decryption must restore this. */
  readonly written: string
  /** True for a value without quotes, such as a number or object. Its replacement needs quotes. */
  readonly isUnquoted: boolean
  /** True if the value has members. */
  readonly isContainer: boolean
}

/** Action of a rule on a value it has found. */
export type Action = 'detect' | 'delete' | ((found: Found) => Piece)

interface CompiledRule {
  readonly id: string
  readonly action: Action
}

/** A rule that matches names. */
export type NameRule = CompiledRule
/** A rule that matches values of a type. */
export interface TypeRule extends CompiledRule {
  readonly type: ValueTypeName
  readonly find: FindValues
}
/** A rule that matches a regular expression. If it has groups, the first one is the value. */
export interface RegexRule extends CompiledRule {
  readonly regex: Regex
}

const PLAIN_NAME = /^[\w.-]*$/
const CACHED_NAMES = 4096
const NO_RULES: readonly NameRule[] = []

/** The rules for one area of a record. */
export class AreaRules {
  readonly types: readonly TypeRule[]
  readonly regexes: readonly RegexRule[]
  /** True if at least one rule does more than detect. */
  readonly isProtecting: boolean
  /** Names of the rules, in lower case. */
  readonly names: readonly string[]
  /** True if the names consist of characters that `plainReading` leaves. */
  readonly hasPlainNames: boolean
  /** Signs of the types, for `Suspects`. */
  readonly signs: SuspectSigns
  readonly #anyName: RegExp
  readonly #nextName: RegExp
  readonly #byName = new Map<string, NameRule[]>()
  readonly #answers = new Memo<readonly NameRule[]>(
    CACHED_NAMES,
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
    this.hasPlainNames = this.names.every((name) => PLAIN_NAME.test(name))
    this.signs = new SuspectSigns(
      types.map((rule) => rule.type),
      this.names,
    )
    this.#anyName = new RegExp(this.names.map(escapedForRegex).join('|'))
    this.#nextName = new RegExp(this.#anyName, 'gi')
  }

  get isEmpty(): boolean {
    return this.types.length === 0 && this.regexes.length === 0 && this.names.length === 0
  }

  /** Returns true if one of the names occurs in a text without escapes. Most texts contain none. */
  occursIn(text: string): boolean {
    return this.names.length > 0 && this.#anyName.test(text.toLowerCase())
  }

  /** Returns the position of the next name in a text of ASCII characters, or infinity. */
  nextName(text: string, from: number): number {
    if (this.names.length === 0) return Number.POSITIVE_INFINITY
    this.#nextName.lastIndex = from
    return this.#nextName.exec(text)?.index ?? Number.POSITIVE_INFINITY
  }

  /** Returns the rules for values with this name, in the order of the configuration. Case-insensitive. */
  named(name: string): readonly NameRule[] {
    return this.names.length === 0 ? NO_RULES : this.#answers.get(name)
  }

  #addName(name: string, rule: NameRule): void {
    const rules = this.#byName.get(name)
    if (rules === undefined) this.#byName.set(name, [rule])
    else rules.push(rule)
  }
}

/**
 * Compiles the rules by area of the record. @throws Error if a rule needs a missing key or its regular
 * expression is invalid.
 */
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

function actionOf(rule: PrivacyRule, key: LogKey | null): Action {
  if (rule.do === 'detect' || rule.do === 'delete') return rule.do
  if (rule.do === 'mask') return (found) => maskOf(rule, found)
  if (key === null) throw new Error(`the privacy rule '${rule.id}' needs a key`)
  if (rule.do === 'hash') return ({ text }) => ({ text: key.hash(text), isOpaque: true })
  return ({ written, isUnquoted }) => ({ text: key.encrypt(written, isUnquoted), isOpaque: true })
}

function maskOf({ shape }: PrivacyRule, { text, isContainer }: Found): Piece {
  const partly = isContainer ? null : maskedBy(shape, text)
  // The rest of a partly masked value is checked by the other rules, too.
  return partly === null ? { text: MASK, isOpaque: true } : openPiece(partly)
}

/**
 * Masks part of a value. Only `maskFirst` shows as many asterisks as hidden characters, because the number is
 * configured anyway.
 */
function maskedBy({ kind, count }: MaskShape, text: string): string | null {
  if (kind !== 'maskFirst') {
    const [keepFirst, keepLast] = [kind === 'keepFirst' ? count : 0, kind === 'keepLast' ? count : 0]
    return partlyMasked(text, { keepFirst, keepLast, minHidden: 1 })
  }
  const characters = [...text]
  return count >= characters.length ? null : '*'.repeat(count) + characters.slice(count).join('')
}
