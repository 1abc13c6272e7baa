/** An entry as it is written. Key, type and tags hold one byte a character. */
export interface Entry {
  readonly key: string
  readonly hash: number
  readonly type: string
  /** Separated and surrounded by spaces, ` a b `; empty: none. */
  readonly tags: string
  readonly value: Uint8Array
  /** Milliseconds since the epoch; Infinity: it stays until it is evicted. */
  readonly expiresAt: number
}

/** What was read, copied out of the shared memory; holds until the next read. */
export class FoundEntry {
  type = ''
  version = 0
  value: Uint8Array
  readonly #room: Buffer

  /** @param maxBytes of a value and its type. */
  constructor(maxBytes: number) {
    this.#room = Buffer.alloc(maxBytes)
    this.value = this.#room
  }

  take(source: Uint8Array, typeBytes: number, version: number): void {
    const room = this.#room
    room.set(source)
    this.type = room.toString('latin1', 0, typeBytes)
    this.value = room.subarray(typeBytes, source.length)
    this.version = version
  }
}
