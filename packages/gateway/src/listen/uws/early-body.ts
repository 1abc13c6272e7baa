import { SpillFile } from '../../lib/spill-file.js'

/** Maximum number of bytes in memory; the rest is written to a file. A read of uWS is up to 512 KB. */
const MAX_HELD_BYTES = 2 * 1024 * 1024
/**
 * Maximum total size. uWS was seen to read 220 MB after a pause; a faster sender exceeds the capacity of this machine.
 */
export const MAX_EARLY_BYTES = 256 * 1024 * 1024
const PIECE_BYTES = 256 * 1024

/**
 * First-in, first-out buffer for body bytes that arrive before there is a receiver: first in memory, then in a file.
 * Nothing is taken until all is added, which keeps the order.
 */
export class EarlyBody {
  readonly #held: Buffer[] = []
  readonly #spill = new SpillFile()
  #bytes = 0
  #taken = 0

  get isEmpty(): boolean {
    return this.#taken >= this.#held.length && this.#spill.isEmpty
  }

  /** Adds a copy of the chunk. Returns false if there is no room for it. */
  add(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length
    if (this.#bytes > MAX_EARLY_BYTES) return false
    if (this.#bytes > MAX_HELD_BYTES) return this.#spillChunk(chunk)
    this.#held.push(Buffer.from(chunk))
    return true
  }

  /** Returns the next piece, or an empty one at the end. */
  take(): Buffer {
    return this.#held[this.#taken++] ?? this.#spill.take(PIECE_BYTES)
  }

  close(): void {
    this.#held.length = 0
    this.#taken = 0
    this.#spill.close()
  }

  #spillChunk(chunk: Uint8Array): boolean {
    try {
      this.#spill.append(chunk)
    } catch {
      // A full disk must not end the process. The caller closes this connection.
      return false
    }
    return true
  }
}
