/** The same bytes as a buffer: transports write buffers, and what a policy made on a thread comes back as plain bytes. */
export function bufferOf(body: Uint8Array | null): Buffer | null {
  if (body === null || Buffer.isBuffer(body)) return body
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}
