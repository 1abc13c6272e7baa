import { TOKEN_BYTES, VALUE_BYTES } from './byte-classes.js'

const CR = 13
const QUOTE = 34
const SEMICOLON = 59
const EQUALS = 61
const BACKSLASH = 92

const START = 0
const NAME = 1
const VALUE = 2
const QUOTED = 3
const ESCAPED = 4
const QUOTE_END = 5

/**
 * Validates the extensions after a chunk size (RFC 9112 section 7.1.1). The gateway ignores their meaning. A malformed
 * extension is refused, because another parser might see the end of the line somewhere else.
 *
 *     5 ; name ; name = value ; name = "a \\" quoted value" CR
 */
export class ChunkExtensions {
  #state = START

  begin(): void {
    this.#state = START
  }

  /** Returns true if the byte is valid here. Call it for each byte after the first semicolon. */
  accepts(byte: number): boolean {
    switch (this.#state) {
      case START:
        this.#state = NAME
        return TOKEN_BYTES[byte] === 1
      case NAME:
        if (byte !== EQUALS) return this.#goesOn(byte)
        this.#state = VALUE
        return true
      case VALUE:
        if (byte !== QUOTE) return this.#goesOn(byte)
        this.#state = QUOTED
        return true
      case QUOTED:
        if (byte === QUOTE) this.#state = QUOTE_END
        else if (byte === BACKSLASH) this.#state = ESCAPED
        return VALUE_BYTES[byte] === 1
      case ESCAPED:
        this.#state = QUOTED
        return VALUE_BYTES[byte] === 1
      default:
        if (byte === SEMICOLON) this.#state = START
        return byte === SEMICOLON || byte === CR
    }
  }

  #goesOn(byte: number): boolean {
    if (byte === SEMICOLON) this.#state = START
    return byte === SEMICOLON || byte === CR || TOKEN_BYTES[byte] === 1
  }
}
