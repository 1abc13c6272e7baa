const PERCENT = 37
const PLUS = 43
const EQUALS = 61

/** Reads a raw query one parameter after the other; a cursor, so that nothing is allocated for those of no interest. */
export class QueryCursor {
  private query = ''
  private next = 0
  private start = 0
  private equals = 0
  private end = 0

  /** Starts over with a query, without its "?". */
  read(query: string): void {
    this.query = query
    this.next = 0
  }

  /** Moves to the next parameter; false when there is none. */
  advance(): boolean {
    if (this.next >= this.query.length) {
      this.query = ''
      return false
    }
    this.start = this.next
    const ampersand = this.query.indexOf('&', this.start)
    this.end = ampersand === -1 ? this.query.length : ampersand
    this.next = this.end + 1
    this.equals = this.start
    while (this.equals < this.end && this.query.charCodeAt(this.equals) !== EQUALS) this.equals++
    return true
  }

  /** Whether the parameter has this name, given decoded. */
  hasName(name: string): boolean {
    if (this.equals === this.start && this.end === this.start) return false
    return decodeQueryText(this.query, this.start, this.equals) === name
  }

  /** The decoded value; empty when there is no "=". */
  value(): string {
    return this.equals >= this.end ? '' : decodeQueryText(this.query, this.equals + 1, this.end)
  }
}

/**
 * Part of a query, decoded as forms are written: "+" is a space, "%XX" a byte of UTF-8. A text with a malformed
 * escape stays as it was received, so that it equals nothing that was meant.
 */
function decodeQueryText(query: string, from: number, to: number): string {
  const text = query.slice(from, to)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === PERCENT || code === PLUS) return decodeEscapes(text)
  }
  return text
}

function decodeEscapes(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
