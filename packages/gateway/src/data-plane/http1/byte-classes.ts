/** Tables by byte value, 1 where the byte may stand: one bundle a byte decides, without a chain of comparisons. */

const SYMBOLS = "!#$%&'*+-.^_`|~"

/** A byte of a token, as in field names (RFC 9110 section 5.6.2). */
export const TOKEN_BYTES: Uint8Array = tableOf((byte) => isAlphanumeric(byte) || isSymbol(byte))

/** A byte of a field value or a reason: visible, space, tab or from 0x80 on (RFC 9110 section 5.5). */
export const VALUE_BYTES: Uint8Array = tableOf((byte) => byte === 9 || (byte >= 32 && byte !== 127))

/** A byte of a request target: visible ASCII. */
export const TARGET_BYTES: Uint8Array = tableOf((byte) => byte > 32 && byte < 127)

/** The value of a hexadecimal digit, 16 for every other byte. */
export const HEX_VALUES: Uint8Array = new Uint8Array(256).map((_, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16)
  return Number.isNaN(value) ? 16 : value
})

/** Whether every character of a text has a 1 in the table. */
export function consistsOf(text: string, table: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) {
    // A character beyond the table is undefined, which is not 1.
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
