import type { Consumer, Reply } from '@sluice/core'
import { LRUCache } from 'lru-cache'
import type { TokenBinding } from './token-binding.js'

/** What is known of a token whose signature is right. */
export interface VerifiedToken {
  /** First moment when it is not valid any more, ms since the epoch, with the skew of clocks. */
  readonly expiresAt: number
  /** First moment when it is valid. */
  readonly validFrom: number
  /** Why it is refused all the same; null: it is not. */
  readonly refusal: Reply | null
  readonly binding: TokenBinding
  /** Null only beside a refusal. */
  readonly consumer: Consumer | null
  readonly claims: ReadonlyMap<string, string>
  /** Header lines for the upstream, names and values in turn. */
  readonly lines: readonly string[]
}

/** Most characters of tokens that are remembered, of one policy in one worker. */
const MAX_CHARS = 16 * 1024 * 1024

/**
 * Tokens whose signature was verified, by their whole text: a token that differs in one character is another one. It
 * belongs to one compiled set of keys and ends with it. Only holders of a key of the issuer can add to it.
 */
export class VerifiedTokens {
  readonly #cache: LRUCache<string, VerifiedToken> | null
  #generation = 0

  /** @param max how many; 0: none. */
  constructor(max: number) {
    this.#cache =
      max === 0
        ? null
        : new LRUCache({ max, maxSize: MAX_CHARS, sizeCalculation: (_, token) => token.length })
  }

  /** @param generation of the key set: what was verified under another one is forgotten. */
  find(token: string, generation: number): VerifiedToken | undefined {
    if (generation !== this.#generation) {
      this.#cache?.clear()
      this.#generation = generation
    }
    return this.#cache?.get(token)
  }

  /** Remembers nothing that was verified under a set of keys that has changed since. */
  add(token: string, generation: number, verified: VerifiedToken): void {
    // A copy: the token may be a slice that would keep the whole field or query it stood in.
    if (generation === this.#generation)
      this.#cache?.set(Buffer.from(token, 'latin1').toString('latin1'), verified)
  }
}
