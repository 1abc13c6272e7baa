const LINE_END = 0x0a

/** Bytes with a head, as split by `splitJsonHead`. Its members come from outside and can have any type. */
export interface HeadedBytes {
  readonly head: Readonly<Record<string, unknown>>
  readonly body: Uint8Array
}

/** Joins a head and a body, the form of values in stores: the head in JSON, a line feed, the body. */
export function joinJsonHead(head: object, ...body: readonly Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...body])
}

/**
 * Splits bytes into head and body. JSON contains a line feed only inside strings, escaped. Returns null if the first
 * line is not a JSON object: something else has written it.
 */
export function splitJsonHead(bytes: Uint8Array): HeadedBytes | null {
  const end = bytes.indexOf(LINE_END)
  if (end < 0) return null
  try {
    const head: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, end).toString())
    const isObject = typeof head === 'object' && head !== null && !Array.isArray(head)
    return isObject ? { head: head as HeadedBytes['head'], body: bytes.subarray(end + 1) } : null
  } catch {
    return null
  }
}
