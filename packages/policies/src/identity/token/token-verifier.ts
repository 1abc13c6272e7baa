import { type Exchange, parseDuration, type Reply } from '@sluice/core'
import { type JoseHeader, parseJoseHeader, plainType } from '../../crypto/jose/jws-header.js'
import type { KeySet, SignatureKey } from '../../crypto/jose/key-set.js'
import { KeysUnavailable } from '../../crypto/jose/remote-key-set.js'
import { firstVerified } from '../../crypto/keys/signature.js'
import type { SignatureChecks } from '../../crypto/keys/signature-checks.js'
import { decode } from '../../shared/encoding/byte-text.js'
import { memberOf } from '../../shared/json/strict-json.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import { claimTexts } from './claim.js'
import { type ClaimRule, compileRules } from './claim-rules.js'
import { type ClaimsSet, parseClaims } from './claims-set.js'
import { consumerIn } from './consumer-claims.js'
import { ForwardedClaims } from './forwarded-claims.js'
import type { TokenRefusals } from './refusals.js'
import { bindingOf, type TokenBinding } from './token-binding.js'
import { tokenLocation } from './token-location.js'
import { DEFAULT_SKEW, type TokenConfig } from './token-options.js'
import type { VerifiedToken } from './verified-tokens.js'

/** Result of a verification. Tokens with a valid signature are cached, even if their claims are refused. */
export type Verdict =
  | { readonly verified: VerifiedToken }
  /** The reason is for the log only. */
  | { readonly refusal: Reply; readonly reason?: string }

const TOKEN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
/**
 * Accepted values of `typ` by default. Tokens for other purposes have other types (RFC 8725 section 3.11).
 */
const USUAL_TYPES: readonly string[] = ['jwt', 'at+jwt']

/** Verifies tokens that are not cached. */
export class TokenVerifier {
  readonly forwarded: ForwardedClaims
  readonly #keys: KeySet
  readonly #checks: SignatureChecks
  readonly #rules: readonly ClaimRule[]
  readonly #refusals: TokenRefusals
  readonly #types: ReadonlySet<string>
  readonly #isTypeNeeded: boolean
  readonly #skewMs: number
  readonly #config: TokenConfig

  constructor(config: TokenConfig, keys: KeySet, refusals: TokenRefusals, checks: SignatureChecks) {
    this.forwarded = new ForwardedClaims(config.forwardClaims ?? {}, tokenLocation(config).name)
    this.#keys = keys
    this.#checks = checks
    this.#rules = compileRules(config, refusals)
    this.#refusals = refusals
    this.#types = new Set((config.types ?? USUAL_TYPES).map(plainType))
    this.#isTypeNeeded = config.types !== undefined
    this.#skewMs = parseDuration(config.clockSkew ?? DEFAULT_SKEW)
    this.#config = config
  }

  /** Returns a promise only if keys must be fetched, or if the event loop is too busy for the check. */
  verify(token: string, x: Exchange): Verdict | Promise<Verdict> {
    const { malformed } = this.#refusals
    if (!TOKEN.test(token)) return { refusal: malformed }
    const header = parseJoseHeader(token.slice(0, token.indexOf('.')))
    if (header === null || !this.#isRightKind(header)) return { refusal: malformed }
    const unavailable = (error: unknown): Verdict => {
      if (!(error instanceof KeysUnavailable)) throw error
      return { refusal: this.#refusals.unavailable, reason: error.message }
    }
    const keys = this.#keys.candidates(header.alg, header.kid)
    const verdict =
      keys instanceof Promise
        ? keys.then((found) => this.#check(token, x, found)).catch(unavailable)
        : this.#check(token, x, keys)
    return whenSettled(verdict, (first) => {
      if (!('refusal' in first) || first.refusal !== this.#refusals.signature) return first
      const renewed = this.#keys.renewed?.(header.alg, header.kid) ?? null
      if (renewed === null) return first
      return renewed
        .then((found) => (found === null ? first : this.#check(token, x, found)))
        .catch(unavailable)
    })
  }

  /**
   * Refuses `crit`, which demands unsupported extensions, and `b64`, which a JWT must not use (RFC 7797
   * section 7).
   */
  #isRightKind({ crit, typ, all }: JoseHeader): boolean {
    if (crit !== null || Object.hasOwn(all, 'b64')) return false
    return typ === null ? !this.#isTypeNeeded : this.#types.has(plainType(typ))
  }

  #check(token: string, x: Exchange, keys: readonly SignatureKey[]): Verdict | Promise<Verdict> {
    const [first, last] = [token.indexOf('.'), token.lastIndexOf('.')]
    const payload = decode(token.slice(first + 1, last), 'base64url')
    const signature = decode(token.slice(last + 1), 'base64url')
    if (payload === null || signature === null) return { refusal: this.#refusals.malformed }
    const input = Buffer.from(token.slice(0, last), 'latin1')
    const search = firstVerified(keys, ({ check }) => ({ check, input, signature }))
    return whenSettled(this.#checks.run(x, search), (key) => this.#conclude(key, payload))
  }

  #conclude(key: SignatureKey | null | undefined, payload: Uint8Array): Verdict {
    if (key === null) return { refusal: this.#refusals.overloaded }
    if (key === undefined) return { refusal: this.#refusals.signature }
    const claims = parseClaims(payload)
    if (claims === null) return { refusal: this.#refusals.malformed }
    return { verified: this.#validate(claims, key) }
  }

  #validate(claims: ClaimsSet, key: SignatureKey): VerifiedToken {
    const { all } = claims
    const binding = bindingOf(all)
    const refusal = this.#objection(claims, key, binding)
    const texts = claimTexts(all)
    const consumer = refusal === null ? consumerIn(all, { ...this.#config, auth: 'jwt', texts }) : null
    return {
      expiresAt: claims.exp === null ? Number.POSITIVE_INFINITY : claims.exp * 1000 + this.#skewMs,
      validFrom: claims.nbf === null ? Number.NEGATIVE_INFINITY : claims.nbf * 1000 - this.#skewMs,
      refusal,
      binding: binding ?? null,
      consumer,
      claims: texts,
      lines: this.forwarded.linesOf(all),
    }
  }

  #objection(claims: ClaimsSet, key: SignatureKey, binding: TokenBinding | undefined): Reply | null {
    const { iss, all } = claims
    if (key.issuer?.(iss, memberOf(all, 'tid')) === false) return this.#refusals.issuer
    if (binding === undefined) return this.#refusals.binding
    for (const rule of this.#rules) {
      const refusal = rule(claims)
      if (refusal !== null) return refusal
    }
    return null
  }
}
