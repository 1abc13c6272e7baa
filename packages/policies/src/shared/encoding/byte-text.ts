/** How bytes stand in a text. */
export type ByteEncoding = 'base64' | 'base64url' | 'hex'

const HEX = /^(?:[0-9a-fA-F]{2})*$/

/**
 * The bytes that a text stands for; null when it is not exactly what `encode` would have written: a decoder that
 * forgives lets one value be written in many ways, past every comparison. Digits of hexadecimal may have either case.
 */
export function decode(text: string, encoding: ByteEncoding): Buffer | null {
  if (encoding === 'hex') return HEX.test(text) ? Buffer.from(text, 'hex') : null
  const bytes = Buffer.from(text, encoding)
  return bytes.toString(encoding) === text ? bytes : null
}

/** Base64 has its padding, base64url has none, hexadecimal is in lower case. */
export function encode(bytes: Uint8Array, encoding: ByteEncoding): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding)
}
