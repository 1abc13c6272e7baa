/** Text encoding of bytes. */
export type ByteEncoding = 'base64' | 'base64url' | 'hex'

const HEX = /^(?:[0-9a-fA-F]{2})*$/

/**
 * Decodes a text, or returns null if it is not exactly what `encode` would produce. A lenient decoder would accept
 * several spellings of one value and so defeat comparisons. Hexadecimal digits may have either case.
 */
export function decode(text: string, encoding: ByteEncoding): Buffer | null {
  if (encoding === 'hex') return HEX.test(text) ? Buffer.from(text, 'hex') : null
  const bytes = Buffer.from(text, encoding)
  return bytes.toString(encoding) === text ? bytes : null
}

/** Encodes bytes: base64 with padding, base64url without padding, hexadecimal in lower case. */
export function encode(bytes: Uint8Array, encoding: ByteEncoding): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding)
}
