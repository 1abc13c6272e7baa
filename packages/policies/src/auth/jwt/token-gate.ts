import { hash } from 'node:crypto'
import { type Eventual, type Exchange, type Outcome, parseSize } from '@sluice/core'
import { LRUCache } from 'lru-cache'
import type { KeySet } from '../../crypto/jose/key-set.js'
import type { SignatureChecks } from '../../crypto/keys/signature-checks.js'
import type { TokenRefusals } from '../../identity/token/refusals.js'
import { isHolder } from '../../identity/token/token-binding.js'
import { tokenLocation } from '../../identity/token/token-location.js'
import { DEFAULT_TOKEN_BYTES } from '../../identity/token/token-options.js'
import { TokenVerifier, type Verdict } from '../../identity/token/token-verifier.js'
import { type VerifiedToken, VerifiedTokens } from '../../identity/token/verified-tokens.js'
import type { CredentialLocation } from '../../shared/field-location/credential.js'
import { DEFAULT_CACHE_ENTRIES, type JwtConfig } from './schema.js'

/**
 * Maximum number of remembered refusals. Attackers can fill this cache, whose only purpose is to stop clients
 * that repeat themselves.
 */
const MAX_REMEMBERED = 4096

/**
 * Tokens with a wrong signature, by the hash of their text. Kept apart from verified tokens, so that guesses
 * cannot evict them.
 */
class RefusedTokens {
  readonly #hashes = new LRUCache<string, true>({ max: MAX_REMEMBERED })
  #generation = 0

  /** @param generation generation of the key set. A token refused by an older one may be valid now. */
  has(token: string, generation: number): boolean {
    if (generation !== this.#generation) {
      this.#hashes.clear()
      this.#generation = generation
    }
    return this.#hashes.size > 0 && this.#hashes.has(hash('sha256', token, 'base64'))
  }

  /** Remembers a refusal, unless the keys have changed since the check. */
  add(token: string, generation: number): void {
    if (generation === this.#generation) this.#hashes.set(hash('sha256', token, 'base64'), true)
  }
}

interface Running {
  /** Generation of the key set when the verification started. */
  readonly generation: number
  readonly verdict: Promise<Verdict>
}

/** Decides about a request. A known token costs one map look-up. */
export class TokenGate {
  readonly #location: CredentialLocation
  readonly #keys: KeySet
  readonly #verifier: TokenVerifier
  readonly #tokens: VerifiedTokens
  readonly #refused = new RefusedTokens()
  /** Verifications in progress, by token. */
  readonly #running = new Map<string, Running>()
  readonly #refusals: TokenRefusals
  readonly #maxLength: number
  readonly #strips: boolean

  constructor(config: JwtConfig, keys: KeySet, refusals: TokenRefusals, checks: SignatureChecks) {
    this.#location = tokenLocation(config)
    this.#keys = keys
    this.#verifier = new TokenVerifier(config, keys, refusals, checks)
    this.#tokens = new VerifiedTokens(config.cacheEntries ?? DEFAULT_CACHE_ENTRIES)
    this.#refusals = refusals
    this.#maxLength = parseSize(config.maxTokenBytes ?? DEFAULT_TOKEN_BYTES)
    this.#strips = config.strip ?? true
  }

  admit(x: Exchange): Eventual {
    this.#verifier.forwarded.clear(x.headers)
    const token = this.#location.read(x)
    if (token === '') return this.#refusals.missing
    if (token === null || token.length > this.#maxLength) return this.#refusals.malformed
    const { generation } = this.#keys
    const known = this.#tokens.find(token, generation)
    if (known !== undefined) return this.#decide(x, known)
    // The issuer may have replaced a key but kept its id.
    if (this.#keys.isRenewable !== true && this.#refused.has(token, generation))
      return this.#refusals.signature
    const verdict = this.#verify(token, x)
    const conclude = (late: Verdict): Outcome => {
      if ('refusal' in late) {
        if (late.refusal === this.#refusals.signature) this.#refused.add(token, generation)
        if (late.reason !== undefined) x.record.reason = late.reason
        return late.refusal
      }
      this.#tokens.add(token, generation, late.verified)
      return this.#decide(x, late.verified)
    }
    return verdict instanceof Promise ? verdict.then(conclude) : conclude(verdict)
  }

  /**
   * Verifies a token. Concurrent requests with the same token share one verification: while keys are being
   * fetched, separate verifications would be too many.
   */
  #verify(token: string, x: Exchange): Verdict | Promise<Verdict> {
    const { generation } = this.#keys
    const running = this.#running.get(token)
    if (running?.generation === generation) {
      // The first request has ended before its verification ran, so verify for this one.
      return running.verdict.then((verdict) =>
        'refusal' in verdict && verdict.refusal === this.#refusals.overloaded
          ? this.#verify(token, x)
          : verdict,
      )
    }
    const verdict = this.#verifier.verify(token, x)
    if (!(verdict instanceof Promise)) return verdict
    const own = { generation, verdict }
    this.#running.set(token, own)
    const end = (): void => {
      if (this.#running.get(token) === own) this.#running.delete(token)
    }
    verdict.then(end, end)
    return verdict
  }

  /** Checks the times for every request, whether or not the token was cached. */
  #decide(x: Exchange, token: VerifiedToken): Outcome {
    if (x.startedAt >= token.expiresAt) return this.#refusals.expired
    if (x.startedAt < token.validFrom) return this.#refusals.notYetValid
    if (token.refusal !== null) return token.refusal
    if (!isHolder(x.clientCertificate, token.binding)) return this.#refusals.binding
    if (this.#strips) this.#location.strip(x)
    for (let i = 0; i < token.lines.length; i++) x.headers.push(token.lines[i]!)
    x.identify(token.consumer!)
    x.claims = token.claims
    return null
  }
}
