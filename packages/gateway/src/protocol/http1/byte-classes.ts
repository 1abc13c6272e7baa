/**
 * Symbols allowed in a token. The tables below are indexed by byte value: 1 if the byte is allowed, found in one
 * lookup.
 */

const SYMBOLS = "!#$%&'*+-.^_`|~"

/** Bytes allowed in a token, such as a field name (RFC 9110 section 5.6.2). */
export const TOKEN_BYTES: Uint8Array = tableOf((byte) => isAlphanumeric(byte) || isSymbol(byte))

/**
 * Bytes allowed in a field value or reason phrase: visible characters, space, tab and 0x80 to 0xff (RFC 9110 section
 * 5.5).
 */
export const VALUE_BYTES: Uint8Array = tableOf((byte) => byte === 9 || (byte >= 32 && byte !== 127))

/** Bytes allowed in a request target: visible ASCII. */
export const TARGET_BYTES: Uint8Array = tableOf((byte) => byte > 32 && byte < 127)

/** Value of each hexadecimal digit; 16 for every other byte. */
export const HEX_VALUES: Uint8Array = new Uint8Array(256).map((_, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16)
  return Number.isNaN(value) ? 16 : value
})

/** Returns true if every character of the text is in the table. */
export function consistsOf(text: string, table: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) {
    // A character outside the table gives undefined, which is not 1.
    if (table[text.charCodeAt(i)] !== 1) return false
  }
  return true
}

function tableOf(accepts: (byte: number) => boolean): Uint8Array {
  return new Uint8Array(256).map((_, byte) => (accepts(byte) ? 1 : 0))
}

function isAlphanumeric(byte: number): boolean {
  return (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122)
}

function isSymbol(byte: number): boolean {
  return SYMBOLS.includes(String.fromCharCode(byte))
}
