import type { Consumer, Reply } from '@sluice/core'
import { LRUCache } from 'lru-cache'
import type { TokenBinding } from './token-binding.js'

/** Cached data of a token with a valid signature. */
export interface VerifiedToken {
  /** Time from which the token is expired, in milliseconds since 1970, including the clock skew. */
  readonly expiresAt: number
  /** Time from which the token is valid, in milliseconds since 1970, including the clock skew. */
  readonly validFrom: number
  /** Response to requests with this token, or null if the token is accepted. */
  readonly refusal: Reply | null
  readonly binding: TokenBinding
  /** Consumer, or null if the token is refused. */
  readonly consumer: Consumer | null
  readonly claims: ReadonlyMap<string, string>
  /** Header lines for the upstream, as a flat list. */
  readonly lines: readonly string[]
}

/** Maximum total length of the cached tokens of one policy in one worker, in characters. */
const MAX_CHARS = 16 * 1024 * 1024

/**
 * Cache of tokens with a valid signature, keyed by their whole text. It belongs to one compiled key set. Only
 * holders of an issuer's key can add entries.
 */
export class VerifiedTokens {
  readonly #cache: LRUCache<string, VerifiedToken> | null
  #generation = 0

  /** @param max maximum number of tokens, or 0 to disable the cache. */
  constructor(max: number) {
    this.#cache =
      max === 0
        ? null
        : new LRUCache({ max, maxSize: MAX_CHARS, sizeCalculation: (_, token) => token.length })
  }

  /** @param generation generation of the key set. Entries of older generations are dropped. */
  find(token: string, generation: number): VerifiedToken | undefined {
    if (generation !== this.#generation) {
      this.#cache?.clear()
      this.#generation = generation
    }
    return this.#cache?.get(token)
  }

  /** Adds a token, unless the keys have changed since its verification. */
  add(token: string, generation: number, verified: VerifiedToken): void {
    // Copies the token, which may be a slice that keeps a whole header or query alive.
    if (generation === this.#generation)
      this.#cache?.set(Buffer.from(token, 'latin1').toString('latin1'), verified)
  }
}
