/**
 * Returns the same bytes as a Buffer. Transports write Buffers, but a policy's result from a thread is a plain
 * Uint8Array.
 */
export function bufferOf(body: Uint8Array | null): Buffer | null {
  if (body === null || Buffer.isBuffer(body)) return body
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}
