/** A body up to this size is handled as text, and goes out in one piece with its head: cheaper than a buffer of its own. */
export const MAX_TEXT_BYTES = 8 * 1024

/** The text of one character a byte. */
export function latin1Of(bytes: Uint8Array, from = 0, to = bytes.length): string {
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('latin1', from, to)
}
