import { parseDictionary } from '../structured-field/parser.js'
import { isInnerList } from '../structured-field/structured-field.js'

/** Maximum value of a directive in seconds, 68 years. Larger numbers count as this one (RFC 9111 section 1.2.2). */
const MAX_SECONDS = 2 ** 31
/** Value of a directive without `=`. */
const NO_VALUE = null
/** Placeholder for an invalid value. */
const INVALID = ' '

/** Values of directives in the written order, by lower-case name. */
type Directives = ReadonlyMap<string, readonly (string | null)[]>

/**
 * Directives of a Cache-Control field (RFC 9111 section 5.2) of a request or a response. Names are case-insensitive.
 */
export class CacheControl {
  readonly #values: Directives

  /** Parses a field. @param from all lines of the field joined by commas, or directives; null if there is no field. */
  constructor(from: string | Directives | null) {
    if (from === null || from === '') this.#values = NOTHING
    else this.#values = typeof from === 'string' ? parse(from) : from
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  /**
   * Returns the seconds of a directive, or null if it is absent. Several values count as the smallest. An invalid
   * value counts as 0, the safe interpretation.
   */
  seconds(name: string): number | null {
    const values = this.#values.get(name)
    if (values === undefined) return null
    let least = MAX_SECONDS
    for (const value of values) {
      if (value === NO_VALUE || !/^\d+$/.test(value)) return 0
      least = Math.min(least, Number(value))
    }
    return least
  }

  /** Returns true if a directive occurs without a value and so applies to the whole message. */
  hasWhole(name: string): boolean {
    return this.#values.get(name)?.includes(NO_VALUE) === true
  }

  /** Returns the lower-case field names in the value of a directive, such as `no-cache="a, b"`. */
  fieldsOf(name: string): readonly string[] {
    const values = this.#values.get(name) ?? []
    return values.flatMap((value) => (value ?? '').split(',')).map((field) => field.trim().toLowerCase())
  }
}

const REFUSALS = ['no-store', 'private']
const NOTHING: Directives = new Map()

/**
 * Parses a targeted field such as `CDN-Cache-Control` (RFC 9213). Returns null if it is empty or not a dictionary,
 * and must be ignored. Even then `no-store` and `private` are honored: they cannot mean that the response may be
 * stored.
 */
export function targetedCacheControl(text: string): CacheControl | null {
  const dictionary = parseDictionary(text)
  if (dictionary === null) {
    const control = new CacheControl(text)
    return REFUSALS.some((refusal) => control.has(refusal)) ? control : null
  }
  const values = new Map<string, (string | null)[]>()
  for (const [name, member] of dictionary) {
    // After a semicolon a directive is formally a parameter, but it is meant as a directive.
    for (const refusal of REFUSALS) if (member.parameters.has(refusal)) values.set(refusal, [NO_VALUE])
    const value = isInnerList(member) ? INVALID : member.item.value
    if (value !== false) values.set(name, [value === true ? NO_VALUE : textOf(value)])
  }
  return dictionary.size === 0 ? null : new CacheControl(values)
}

/** Converts a value to text. A string in place of a number is invalid. */
function textOf(value: string | number | Buffer): string {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && !/^\d+$/.test(value) ? value : INVALID
}

/**
 * Matches a directive and its end. Commas in quoted strings do not count, and an unclosed quote extends to the end of
 * the field. Semicolons end directives too, although they are not separators: `max-age=60; no-store` is treated as
 * `no-store`, and a value before a semicolon is ignored.
 */
const DIRECTIVE = /((?:"(?:\\[\s\S]|[^"\\])*"?|[^",;])*)([,;]|$)/g

function parse(text: string): Directives {
  const values = new Map<string, (string | null)[]>()
  DIRECTIVE.lastIndex = 0
  // The last match ends with the text instead of a separator.
  for (let end: string | undefined; end !== ''; ) {
    const found = DIRECTIVE.exec(text)!
    end = found[2]
    const part = found[1]!.trim()
    const equals = part.indexOf('=')
    const name = (equals < 0 ? part : part.slice(0, equals)).trim().toLowerCase()
    if (name === '') continue
    const hasValue = equals >= 0 && end !== ';'
    const value = hasValue ? unquoted(part.slice(equals + 1), part[equals - 1] === ' ') : NO_VALUE
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return values
}

/** Returns a token unchanged, or the text of a quoted string. White space around `=` is invalid. */
function unquoted(value: string, hasSpace: boolean): string {
  if (hasSpace) return INVALID
  if (value.length < 2 || !value.startsWith('"') || !value.endsWith('"')) return value
  return value.slice(1, -1).replace(/\\(.)/g, '$1')
}
