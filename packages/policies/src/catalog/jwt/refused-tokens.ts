import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** Whoever sends guesses fills this; it only has to answer a client that repeats itself. */
const MAX_REMEMBERED = 4096

/**
 * Tokens whose signature was wrong, by the hash of their text. Apart from those that were verified, so that guesses push
 * none of these out.
 */
export class RefusedTokens {
  readonly #hashes = new LRUCache<string, true>({ max: MAX_REMEMBERED })
  #generation = 0

  /** @param generation of the key set: what was wrong under another one may be right. */
  has(token: string, generation: number): boolean {
    if (generation !== this.#generation) {
      this.#hashes.clear()
      this.#generation = generation
    }
    return this.#hashes.size > 0 && this.#hashes.has(hash('sha256', token, 'base64'))
  }

  /** Remembers nothing that was checked with keys that have changed since. */
  add(token: string, generation: number): void {
    if (generation === this.#generation) this.#hashes.set(hash('sha256', token, 'base64'), true)
  }
}
