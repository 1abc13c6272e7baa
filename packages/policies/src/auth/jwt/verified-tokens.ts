import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { VerifiedToken } from '../../identity/token/token-reader.js'

/** Maximum total length of the cached tokens of one policy in one worker, in characters. */
const MAX_CHARS = 16 * 1024 * 1024
/**
 * Maximum number of remembered refusals. Attackers can fill this cache, whose only purpose is to stop clients
 * that repeat themselves.
 */
const MAX_REFUSED = 4096

/**
 * Results of signature checks with one generation of a key set. Only holders of an issuer's key can add verified
 * tokens, which are keyed by their whole text. Tokens with a wrong signature are kept apart by their hash, so that
 * guesses cannot evict verified ones.
 */
export class VerifiedTokens {
  readonly #verified: LRUCache<string, VerifiedToken> | null
  readonly #refused = new LRUCache<string, true>({ max: MAX_REFUSED })
  #generation = 0

  /** @param max maximum number of verified tokens, or 0 to cache none. */
  constructor(max: number) {
    this.#verified =
      max === 0
        ? null
        : new LRUCache({ max, maxSize: MAX_CHARS, sizeCalculation: (_, token) => token.length })
  }

  /** Drops the results of older generations of the key set. */
  renew(generation: number): void {
    if (generation === this.#generation) return
    this.#verified?.clear()
    this.#refused.clear()
    this.#generation = generation
  }

  find(token: string): VerifiedToken | undefined {
    return this.#verified?.get(token)
  }

  isRefused(token: string): boolean {
    return this.#refused.size > 0 && this.#refused.has(digestOf(token))
  }

  /** Adds a token, or null for a wrong signature, unless the keys have changed since the check. */
  add(token: string, generation: number, verified: VerifiedToken | null): void {
    if (generation !== this.#generation) return
    if (verified === null) this.#refused.set(digestOf(token), true)
    // Copies the token, which may be a slice that keeps a whole header or query alive.
    else this.#verified?.set(Buffer.from(token, 'latin1').toString('latin1'), verified)
  }
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64')
}
