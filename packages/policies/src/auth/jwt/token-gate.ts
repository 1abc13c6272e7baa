import { type CompileEnv, type Eventual, type Exchange, type Outcome, parseDuration } from '@sluice/core'
import type { KeySet } from '../../crypto/jose/key-set.js'
import { signatureChecks } from '../../crypto/keys/signature-checks.js'
import { BearerGate } from '../../identity/token/bearer-gate.js'
import { timesOf } from '../../identity/token/claims-set.js'
import { ForwardedClaims } from '../../identity/token/forwarded-claims.js'
import { compileRefusals, type TokenRefusals } from '../../identity/token/refusals.js'
import { tokenLocation } from '../../identity/token/token-options.js'
import { TokenReader, type VerifiedToken } from '../../identity/token/token-reader.js'
import { TokenVerifier, type Verdict } from '../../identity/token/token-verifier.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import type { JwtConfig } from './schema.js'
import { VerifiedTokens } from './verified-tokens.js'

type Result = { readonly verified: VerifiedToken } | Extract<Verdict, { refusal: unknown }>

interface Running {
  /** Generation of the key set when the verification started. */
  readonly generation: number
  readonly result: Promise<Result>
}

/** Decides about a request. A known token costs one map look-up. */
export class TokenGate {
  readonly #keys: KeySet
  readonly #bearer: BearerGate
  readonly #verifier: TokenVerifier
  readonly #reader: TokenReader
  readonly #tokens: VerifiedTokens
  /** Verifications in progress, by token. */
  readonly #running = new Map<string, Running>()
  readonly #refusals: TokenRefusals
  readonly #skewMs: number

  /** @throws Error if an option is invalid. */
  constructor(config: JwtConfig, keys: KeySet, env: CompileEnv) {
    const refusals = compileRefusals(config, env)
    const forwarded = new ForwardedClaims(config.forwardClaims, tokenLocation(config).name)
    this.#keys = keys
    this.#refusals = refusals
    this.#bearer = new BearerGate(config, forwarded, refusals)
    this.#verifier = new TokenVerifier({ types: config.types, keys, refusals, checks: signatureChecks(env) })
    this.#reader = new TokenReader(config, { auth: 'jwt', refusals, forwarded })
    this.#tokens = new VerifiedTokens(config.cacheEntries)
    this.#skewMs = parseDuration(config.clockSkew)
  }

  admit(x: Exchange): Eventual {
    const token = this.#bearer.read(x)
    if (typeof token !== 'string') return token
    const { generation } = this.#keys
    this.#tokens.renew(generation)
    const known = this.#tokens.find(token)
    if (known !== undefined) return this.#bearer.decide(x, known)
    // The issuer may have replaced a key but kept its id.
    if (this.#keys.isRenewable !== true && this.#tokens.isRefused(token)) return this.#refusals.signature
    const result = this.#verifyOnce(token, x)
    const conclude = (late: Result): Outcome => {
      if ('refusal' in late) {
        if (late.refusal === this.#refusals.signature) this.#tokens.add(token, generation, null)
        if (late.reason !== undefined) x.record.reason = late.reason
        return late.refusal
      }
      this.#tokens.add(token, generation, late.verified)
      return this.#bearer.decide(x, late.verified)
    }
    return result instanceof Promise ? result.then(conclude) : conclude(result)
  }

  /**
   * Verifies a token. Concurrent requests with the same token share one verification: while keys are being
   * fetched, separate verifications would be too many.
   */
  #verifyOnce(token: string, x: Exchange): Result | Promise<Result> {
    const { generation } = this.#keys
    const running = this.#running.get(token)
    if (running?.generation === generation) {
      // The first request has ended before its verification ran, so verify for this one.
      return running.result.then((result) =>
        'refusal' in result && result.refusal === this.#refusals.overloaded
          ? this.#verifyOnce(token, x)
          : result,
      )
    }
    const result = this.#verify(token, x)
    if (!(result instanceof Promise)) return result
    const own = { generation, result }
    this.#running.set(token, own)
    const end = (): void => {
      if (this.#running.get(token) === own) this.#running.delete(token)
    }
    result.then(end, end)
    return result
  }

  #verify(token: string, x: Exchange): Result | Promise<Result> {
    return whenSettled(this.#verifier.verify(token, x), (verdict): Result => {
      if ('refusal' in verdict) return verdict
      const { claims, key } = verdict
      return { verified: this.#reader.read(claims, key, timesOf(claims, this.#skewMs)) }
    })
  }
}
