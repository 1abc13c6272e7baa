const EQUALS = 61

/**
 * Cursor over the name-value pairs of a query or form, without decoding them. Yields the same pairs as
 * `split('&')`, but allocates nothing for pairs that are skipped.
 */
export class QueryCursor {
  /** Offsets of the current pair: its start, its `=` (or `end` without one), and its end. */
  start = 0
  equals = 0
  end = 0
  readonly #separator: string
  #text = ''
  #next = 0

  constructor(separator = '&') {
    this.#separator = separator
  }

  /** Starts reading a query without its `?`, or a form. `from` is the offset of the first pair to read. */
  read(text: string, from = 0): void {
    this.#text = text
    this.#next = from
  }

  /** Moves to the next pair. Returns false at the end. */
  advance(): boolean {
    const text = this.#text
    if (this.#next > text.length) {
      this.#text = ''
      return false
    }
    this.start = this.#next
    const separator = text.indexOf(this.#separator, this.start)
    this.end = separator === -1 ? text.length : separator
    this.#next = this.end + 1
    this.equals = this.start
    while (this.equals < this.end && text.charCodeAt(this.equals) !== EQUALS) this.equals++
    return true
  }

  get rawName(): string {
    return this.#text.slice(this.start, this.equals)
  }

  /** Value as written, or empty if there is no `=`. */
  get rawValue(): string {
    return this.equals === this.end ? '' : this.#text.slice(this.equals + 1, this.end)
  }

  /** Returns true if the pair has this decoded name. A name that cannot be decoded is compared as written. */
  hasName(name: string): boolean {
    return this.end > this.start && formText(this.rawName) === name
  }
}

/** Returns the first decoded value of a parameter, or null if it is absent. */
export function queryValue(query: string, name: string): string | null {
  cursor.read(query)
  while (cursor.advance()) if (cursor.hasName(name)) return formText(cursor.rawValue)
  return null
}

const cursor = new QueryCursor()

/** Decodes part of a query or form: `+` is a space. Text with an invalid escape is returned unchanged. */
export function formText(written: string): string {
  return decodedForm(written) ?? written
}

/** Decodes part of a query or form. Returns null for an invalid escape. */
export function decodedForm(written: string): string | null {
  return decodedUrl(written.includes('+') ? written.replaceAll('+', ' ') : written)
}

/**
 * Decodes percent-encoded UTF-8 in part of a URL. `+` stays unchanged. Returns null for an invalid escape.
 */
export function decodedUrl(written: string): string | null {
  if (!written.includes('%')) return written
  try {
    return decodeURIComponent(written)
  } catch {
    return null
  }
}

/**
 * Decodes part of a URL. If an escape is invalid, decodes each escaped byte as one character, so that a
 * secret cannot hide behind it.
 */
export function bytewiseUrl(written: string): string {
  return (
    decodedUrl(written) ??
    written.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  )
}

/** Returns a path with the query of a request. An empty query keeps its "?". */
export function withQuery(
  path: string,
  x: { readonly query: string; readonly hasEmptyQuery: boolean },
): string {
  if (x.query !== '') return path + '?' + x.query
  return x.hasEmptyQuery ? path + '?' : path
}
