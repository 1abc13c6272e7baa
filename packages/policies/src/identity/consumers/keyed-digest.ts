import { hash, randomFillSync } from 'node:crypto'

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32

/**
 * HMAC-SHA256 with a random key that never leaves the process. Digests are texts of 32 characters, one per byte.
 *
 * Implemented with the one-shot `hash`, because an Hmac object takes 2.5 times as long (6.4 instead of 2.6 µs when
 * measured). The key is one block of 7-bit bytes. So both halves are ASCII, and the message can be hashed as a string
 * without copying it to a buffer.
 */
export class KeyedDigest {
  readonly #inner: string
  /** Outer half of the key, followed by the slot of the inner digest. */
  readonly #outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES)

  constructor(key: Uint8Array = randomKey()) {
    this.#inner = Buffer.from(key.map((byte) => byte ^ 0x36)).toString('latin1')
    this.#outer.set(key.map((byte) => byte ^ 0x5c))
  }

  /** Returns the digest of a text's UTF-8 bytes. */
  of(message: string): string {
    this.#outer.write(hash('sha256', this.#inner + message, 'binary'), BLOCK_BYTES, 'latin1')
    return hash('sha256', this.#outer, 'binary')
  }
}

/** Returns a random key of 448 bits. */
function randomKey(): Uint8Array {
  return randomFillSync(new Uint8Array(BLOCK_BYTES)).map((byte) => byte & 0x7f)
}

/** Compares two digests in constant time. */
export function equalDigests(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < DIGEST_BYTES; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}
