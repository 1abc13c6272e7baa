import { parseDictionary } from './structured-field/parser.js'
import { isInnerList } from './structured-field/structured-field.js'

/** 68 years: what a larger number of seconds is taken for (RFC 9111, 1.2.2). */
const MAX_SECONDS = 2 ** 31
/** A directive without `=`. */
const NO_VALUE = null
/** Stands for a value that is not valid. */
const INVALID = ' '

/** Directives with their values, in the order they were written; names are in lower case. */
type Directives = ReadonlyMap<string, readonly (string | null)[]>

/** The directives of Cache-Control (RFC 9111, 5.2), of a request or a response. Names are matched in any case. */
export class CacheControl {
  readonly #values: Directives

  /** @param from all lines of the field joined by commas, or directives; null: there is no field. */
  constructor(from: string | Directives | null) {
    if (from === null || from === '') this.#values = NOTHING
    else this.#values = typeof from === 'string' ? parse(from) : from
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  /**
   * A number of seconds. Of several the least; 0 for one that is not valid, which is the careful reading of it.
   * Null: the directive is absent.
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

  /** It is there without a value: for the whole message. */
  hasWhole(name: string): boolean {
    return this.#values.get(name)?.includes(NO_VALUE) === true
  }

  /** The fields that it names, `no-cache="a, b"`, in lower case. */
  fieldsOf(name: string): readonly string[] {
    const values = this.#values.get(name) ?? []
    return values.flatMap((value) => (value ?? '').split(',')).map((field) => field.trim().toLowerCase())
  }
}

const REFUSALS = ['no-store', 'private']
const NOTHING: Directives = new Map()

/**
 * Reads a targeted field, such as `CDN-Cache-Control` (RFC 9213). Null if it is empty or no dictionary, and therefore
 * ignored. A refusal counts even then: nobody writes `no-store` to have a response kept.
 */
export function targetedCacheControl(text: string): CacheControl | null {
  const dictionary = parseDictionary(text)
  if (dictionary === null) {
    const control = new CacheControl(text)
    return REFUSALS.some((refusal) => control.has(refusal)) ? control : null
  }
  const values = new Map<string, (string | null)[]>()
  for (const [name, member] of dictionary) {
    // Behind a semicolon it is a parameter, which nobody means.
    for (const refusal of REFUSALS) if (member.parameters.has(refusal)) values.set(refusal, [NO_VALUE])
    const value = isInnerList(member) ? INVALID : member.item.value
    if (value !== false) values.set(name, [value === true ? NO_VALUE : textOf(value)])
  }
  return dictionary.size === 0 ? null : new CacheControl(values)
}

/** A string in the place of a number is not valid. */
function textOf(value: string | number | Buffer): string {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && !/^\d+$/.test(value) ? value : INVALID
}

function parse(text: string): Directives {
  const values = new Map<string, (string | null)[]>()
  for (const { part, isCut } of splitUnquoted(text)) {
    const equals = part.indexOf('=')
    const name = (equals < 0 ? part : part.slice(0, equals)).trim().toLowerCase()
    if (name === '') continue
    const value =
      equals < 0 || isCut ? NO_VALUE : unquoted(part.slice(equals + 1).trimEnd(), part[equals - 1] === ' ')
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return values
}

/** A directive as it is written. */
interface WrittenDirective {
  readonly part: string
  /** True if it ends with a semicolon. */
  readonly isCut: boolean
}

/**
 * Splits at commas outside of quoted strings. A quote that is not closed takes all the rest. A semicolon is no separator
 * there; `max-age=60; no-store` is read as the refusal that it is meant to be, and a value before it does not count.
 */
function splitUnquoted(text: string): WrittenDirective[] {
  const parts: WrittenDirective[] = []
  let from = 0
  let isQuoted = false
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (char === '"') isQuoted = !isQuoted
    else if (char === '\\' && isQuoted) i++
    else if ((char === ',' || char === ';') && !isQuoted) {
      parts.push({ part: text.slice(from, i).trim(), isCut: char === ';' })
      from = i + 1
    }
  }
  parts.push({ part: text.slice(from).trim(), isCut: false })
  return parts
}

/** A token as it is, the text of a quoted string. White space around `=` is not in the grammar: such a value is none. */
function unquoted(value: string, hasSpace: boolean): string {
  if (hasSpace) return INVALID
  if (value.length < 2 || !value.startsWith('"') || !value.endsWith('"')) return value
  return value.slice(1, -1).replace(/\\(.)/g, '$1')
}
