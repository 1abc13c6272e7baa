const EQUALS = 61

/**
 * Reads the pairs of a query or a form one after the other, as they are written: as many as `split('&')` gives. A cursor,
 * so that nothing is allocated for those of no interest.
 */
export class QueryCursor {
  /** Where the pair begins, where its `=` stands (`end` where there is none), and where it ends. */
  start = 0
  equals = 0
  end = 0
  readonly #separator: string
  #text = ''
  #next = 0

  constructor(separator = '&') {
    this.#separator = separator
  }

  /** Starts over with a query without its `?`, or with a form; at a pair of it, when that is known. */
  read(text: string, from = 0): void {
    this.#text = text
    this.#next = from
  }

  /** Moves to the next pair; false when there is none. */
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

  /** Empty when there is no `=`. */
  get rawValue(): string {
    return this.equals === this.end ? '' : this.#text.slice(this.equals + 1, this.end)
  }

  /** Whether the pair has this name, given decoded. What cannot be decoded equals nothing that was meant. */
  hasName(name: string): boolean {
    return this.end > this.start && formText(this.rawName) === name
  }
}

/** The first value of a parameter, decoded; null when it is absent. */
export function queryValue(query: string, name: string): string | null {
  cursor.read(query)
  while (cursor.advance()) if (cursor.hasName(name)) return formText(cursor.rawValue)
  return null
}

const cursor = new QueryCursor()

/** Part of a query or a form, decoded: `+` is a space. A text with a broken escape stays as it was received. */
export function formText(written: string): string {
  return decodedForm(written) ?? written
}

/** The same; null for a broken escape. */
export function decodedForm(written: string): string | null {
  return decodedUrl(written.includes('+') ? written.replaceAll('+', ' ') : written)
}

/** Part of a URL with its escapes resolved (`%XX` is a byte of UTF-8), in which `+` is a plus; null for a broken escape. */
export function decodedUrl(written: string): string | null {
  if (!written.includes('%')) return written
  try {
    return decodeURIComponent(written)
  } catch {
    return null
  }
}

/** The same, in which the bytes of a text with a broken escape are characters: a secret must not hide behind one. */
export function bytewiseUrl(written: string): string {
  return (
    decodedUrl(written) ??
    written.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  )
}

/** A path with the query of a request behind it; an empty query keeps its "?". */
export function withQuery(
  path: string,
  x: { readonly query: string; readonly hasEmptyQuery: boolean },
): string {
  if (x.query !== '') return path + '?' + x.query
  return x.hasEmptyQuery ? path + '?' : path
}
