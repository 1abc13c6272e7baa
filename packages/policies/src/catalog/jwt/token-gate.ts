import { hash } from 'node:crypto'
import { type Eventual, type Exchange, type Outcome, parseSize } from '@sluice/core'
import { LRUCache } from 'lru-cache'
import type { KeySet } from '../../crypto/jose/key-set.js'
import type { SignatureChecks } from '../../crypto/keys/signature-checks.js'
import type { CredentialLocation } from '../../shared/field-location/credential.js'
import type { TokenRefusals } from './refusals.js'
import { DEFAULT_CACHE_ENTRIES, DEFAULT_TOKEN_BYTES, type JwtConfig } from './schema.js'
import { isHolder } from './token-binding.js'
import { tokenLocation } from './token-location.js'
import { TokenVerifier, type Verdict } from './token-verifier.js'
import { type VerifiedToken, VerifiedTokens } from './verified-tokens.js'

/** Whoever sends guesses fills this; it only has to answer a client that repeats itself. */
const MAX_REMEMBERED = 4096

/**
 * Tokens whose signature was wrong, by the hash of their text. Apart from those that were verified, so that guesses push
 * none of these out.
 */
class RefusedTokens {
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

interface Running {
  /** Of the key set when it began. */
  readonly generation: number
  readonly verdict: Promise<Verdict>
}

/** The decision for one request; a token that was met before costs one look into a map. */
export class TokenGate {
  readonly #location: CredentialLocation
  readonly #keys: KeySet
  readonly #verifier: TokenVerifier
  readonly #tokens: VerifiedTokens
  readonly #refused = new RefusedTokens()
  /** Tokens that are being verified: those of requests that wait. */
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
    // An issuer may have put a new key under an old id since.
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
   * Requests that bring the same token at one time wait for one check: behind keys that have to be fetched first, a check
   * each would be more than there is time for.
   */
  #verify(token: string, x: Exchange): Verdict | Promise<Verdict> {
    const { generation } = this.#keys
    const running = this.#running.get(token)
    if (running?.generation === generation) {
      // It is not made where that request has ended meanwhile.
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

  /** The times are compared for each request, whenever the signature was checked. */
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
