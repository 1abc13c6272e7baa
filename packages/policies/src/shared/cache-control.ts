/** 68 years: what a larger number of seconds is taken for (RFC 9111, 1.2.2). */
const MAX_SECONDS = 2 ** 31
/** A directive without `=`. */
const NO_VALUE = null

/** The directives of Cache-Control (RFC 9111, 5.2), of a request or a response. Names are matched in any case. */
export class CacheControl {
  readonly #values: ReadonlyMap<string, readonly (string | null)[]>

  /** @param text all lines of the field joined by commas; null: there is no field. */
  constructor(text: string | null) {
    this.#values = text === null || text === '' ? NOTHING : parse(text)
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

const NOTHING: ReadonlyMap<string, readonly (string | null)[]> = new Map()

function parse(text: string): ReadonlyMap<string, readonly (string | null)[]> {
  const values = new Map<string, (string | null)[]>()
  for (const part of splitUnquoted(text)) {
    const equals = part.indexOf('=')
    const name = (equals < 0 ? part : part.slice(0, equals)).trim().toLowerCase()
    if (name === '') continue
    const value = equals < 0 ? NO_VALUE : unquoted(part.slice(equals + 1).trimEnd(), part[equals - 1] === ' ')
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return values
}

/** Splits at commas outside of quoted strings. A quote that is not closed takes all the rest. */
function splitUnquoted(text: string): string[] {
  const parts: string[] = []
  let from = 0
  let isQuoted = false
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (char === '"') isQuoted = !isQuoted
    else if (char === '\\' && isQuoted) i++
    else if (char === ',' && !isQuoted) {
      parts.push(text.slice(from, i).trim())
      from = i + 1
    }
  }
  parts.push(text.slice(from).trim())
  return parts
}

/** A token as it is, the text of a quoted string. White space around `=` is not in the grammar: such a value is none. */
function unquoted(value: string, hasSpace: boolean): string {
  if (hasSpace) return ' '
  if (value.length < 2 || !value.startsWith('"') || !value.endsWith('"')) return value
  return value.slice(1, -1).replace(/\\(.)/g, '$1')
}
