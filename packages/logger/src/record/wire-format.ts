/**
 * Compact form of a record between the request path and the log thread: a sequence of operations, which the log
 * thread expands to JSON. Texts that every record contains are one byte, and numbers are binary, because formatting
 * them on the request path would cost more than the rest of a record.
 *
 *     0 … 199   a fragment of JSON, see `fragments.ts`
 *     TEXT      length u24, bytes: JSON in printable ASCII, copied as it is
 *     SHARED    u32, the position of a text in `SharedTexts`
 *     COUNT     u32, written as a decimal number
 *     MICROS    u32, written in milliseconds with up to three decimals
 *     TIME      seconds u32, milliseconds u16, written as ISO 8601
 *
 * Numbers are little-endian. Both threads run the same version, so the form needs no version number.
 */
export const OP = { text: 200, count: 201, micros: 202, time: 203, shared: 204 } as const

/** Texts of the fragments, by operation. */
const texts: string[] = []

/** Registers a fragment of JSON in printable ASCII and returns its operation. */
export function fragment(text: string): number {
  if (texts.length === OP.text) throw new RangeError('too many fragments')
  return texts.push(text) - 1
}

/** Returns the bytes of all fragments, by operation. */
export function fragmentBytes(): Uint8Array[] {
  return texts.map((text) => new Uint8Array(Buffer.from(text, 'latin1')))
}
