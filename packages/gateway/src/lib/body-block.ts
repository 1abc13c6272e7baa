/** Bytes before a body, for the head of its request. A longer head is written separately. */
const HEAD_ROOM_BYTES = 2048
/** Maximum size of a block. A larger body gets its own memory. */
const MAX_BLOCK_BYTES = 64 * 1024
/** Maximum number of bytes in free blocks. */
const MAX_FREE_BYTES = 4 * 1024 * 1024

/** Free blocks by the number of bits of their size. The last one used is taken first: it is still in the CPU's cache. */
const FREE: BodyBlock[][] = Array.from({ length: bitsOf(MAX_BLOCK_BYTES) + 1 }, () => [])
let freeBytes = 0

/**
 * A complete request body in memory that is reused for later bodies. With new memory for each body, all of it would pass
 * through the CPU's caches before V8 frees it.
 *
 *     memory:  unused │ head │ body │ unused        head and body are written together
 *              0             HEAD_ROOM_BYTES
 */
export class BodyBlock {
  length = 0
  /** True if other code may still read the memory, so that it must not be reused. */
  #isShared = false
  readonly #memory: Buffer

  constructor(bytes: number) {
    this.#memory = Buffer.allocUnsafeSlow(bytes)
  }

  /**
   * Returns a Latin-1 head and the body in one piece, or null if the head is too long. The caller must not keep the
   * result beyond its attempt.
   */
  withHead(head: string): Buffer | null {
    const from = HEAD_ROOM_BYTES - head.length
    if (from < 0) return null
    this.#memory.write(head, from, 'latin1')
    return this.#memory.subarray(from, HEAD_ROOM_BYTES + this.length)
  }

  /** Returns the body. The caller may keep it: its memory is not reused. */
  bytes(): Buffer {
    this.#isShared = true
    return this.#memory.subarray(HEAD_ROOM_BYTES, HEAD_ROOM_BYTES + this.length)
  }

  /** Copies a body into the block. */
  fill(body: Uint8Array): void {
    this.length = body.length
    this.#memory.set(body, HEAD_ROOM_BYTES)
  }

  /** Makes the memory available to other bodies. Called once, after the last attempt. */
  release(): void {
    const { length } = this.#memory
    if (this.#isShared || freeBytes + length > MAX_FREE_BYTES) return
    freeBytes += length
    FREE[bitsOf(length)]!.push(this)
  }
}

/** Copies a complete body, into a block if it fits. */
export function copyBody(body: Uint8Array): BodyBlock | Buffer {
  const bytes = HEAD_ROOM_BYTES + body.length
  if (bytes > MAX_BLOCK_BYTES) return Buffer.from(body)
  const bits = bitsOf(bytes)
  const kept = FREE[bits]!.pop()
  if (kept !== undefined) freeBytes -= 2 ** bits
  const block = kept ?? new BodyBlock(2 ** bits)
  block.fill(body)
  return block
}

/** Returns the body as a Buffer. */
export function bytesOf(body: BodyBlock | Buffer): Buffer {
  return body instanceof BodyBlock ? body.bytes() : body
}

function bitsOf(bytes: number): number {
  return 32 - Math.clz32(bytes - 1)
}
