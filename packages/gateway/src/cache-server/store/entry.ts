/** An entry to write. Key, type and tags hold one byte per character. */
export interface Entry {
  readonly key: string
  readonly hash: number
  readonly type: string
  /** Tags separated and surrounded by spaces, such as ` a b `; empty for none. */
  readonly tags: string
  readonly value: Uint8Array
  /** Expiry in milliseconds since the epoch; Infinity to stay until evicted. */
  readonly expiresAt: number
}

/** An entry copied from shared memory. Valid until the next read. */
export class FoundEntry {
  type = ''
  version = 0
  value: Uint8Array
  readonly #room: Buffer

  /** @param maxBytes maximum size of a value plus its type. */
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
