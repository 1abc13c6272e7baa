import { SpillFile } from '../../upstream/spill-file.js'

/** Bytes held in memory; what comes beyond them waits in a file. A read of uWS is up to 512 KB. */
const MAX_HELD_BYTES = 2 * 1024 * 1024
/** Bytes in all: uWS was seen to read 220 MB after a pause, and who gets further outruns this machine. */
export const MAX_EARLY_BYTES = 256 * 1024 * 1024
const PIECE_BYTES = 256 * 1024

/**
 * The body bytes that came before anyone wanted them, first in, first out: first the held, then the spilled ones.
 * Nothing is taken in between, so that they cannot get mixed up.
 */
export class EarlyBody {
  readonly #held: Buffer[] = []
  readonly #spill = new SpillFile()
  #bytes = 0
  #taken = 0

  get isEmpty(): boolean {
    return this.#taken >= this.#held.length && this.#spill.isEmpty
  }

  /** Takes a copy of the chunk; false when there is no room for it. */
  add(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length
    if (this.#bytes > MAX_EARLY_BYTES) return false
    if (this.#bytes > MAX_HELD_BYTES) return this.#spillChunk(chunk)
    this.#held.push(Buffer.from(chunk))
    return true
  }

  /** The next piece; one without bytes when there is none. */
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
      // A disk without room is no reason to end the process: the caller cuts this one connection.
      return false
    }
    return true
  }
}
