/**
 * Maximum size of a body that is handled as a string and sent together with its head. Up to this size, a string is
 * cheaper than a separate buffer.
 */
export const MAX_TEXT_BYTES = 8 * 1024

/** Decodes bytes as Latin-1: one character per byte. */
export function latin1Of(bytes: Uint8Array, from = 0, to = bytes.length): string {
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('latin1', from, to)
}
