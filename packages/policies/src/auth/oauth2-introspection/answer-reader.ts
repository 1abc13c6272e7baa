import type { HttpAnswer, Reply } from '@sluice/core'
import { errorCodeIn, withCode } from '../../identity/oauth/token-response.js'
import { type ClaimsSet, parseClaims } from '../../identity/token/claims-set.js'
import type { ForwardedClaims } from '../../identity/token/forwarded-claims.js'
import type { TokenRefusals } from '../../identity/token/refusals.js'
import { TokenReader, type VerifiedToken } from '../../identity/token/token-reader.js'
import type { Found } from '../../shared/call/call-cache.js'
import { memberOf, parseStrictObject } from '../../shared/json/strict-json.js'
import type { IntrospectionConfig } from './schema.js'

/**
 * The introspection response does not say whether the token is active. The message contains only its status
 * and error code.
 */
export class IntrospectionFailed extends Error {
  override readonly name = 'IntrospectionFailed'
  /** True if the failure may be caused by the token, and says nothing about the health of the server. */
  readonly concernsToken: boolean

  constructor(message: string, concernsToken = false) {
    super(message)
    this.concernsToken = concernsToken
  }
}

/** Responses to requests without an active token. */
export interface IntrospectionRefusals extends TokenRefusals {
  readonly inactive: Reply
}

/** Times that introspection responses are cached, in milliseconds. */
export interface Lifetimes {
  readonly ttlMs: number
  readonly negativeTtlMs: number
}

/** Estimated size of a cached token without its claims. */
const TOKEN_BYTES = 500
const ALWAYS = { expiresAt: Number.POSITIVE_INFINITY, validFrom: Number.NEGATIVE_INFINITY }
/**
 * Error codes about the token, not about the gateway (RFC 6749 section 5.2, RFC 6750 section 3.1, RFC 7009
 * section 2.2.1).
 */
const TOKEN_ERRORS: ReadonlySet<string> = new Set([
  ...['invalid_request', 'invalid_token', 'unsupported_token_type'],
])

/** Reads introspection responses (RFC 7662 section 2.2). */
export class AnswerReader {
  readonly #lifetimes: Lifetimes
  /** Readers of tokens with and without the claim `sub`. */
  readonly #withSub: TokenReader
  readonly #withoutSub: TokenReader
  readonly #inactive: VerifiedToken

  constructor(
    config: IntrospectionConfig,
    refusals: IntrospectionRefusals,
    forwarded: ForwardedClaims,
    lifetimes: Lifetimes,
  ) {
    const otherType = refusals.claim('token_type')
    // A token bound to a key is not a bearer token, and its proof is not checked here.
    const bearerRule = ({ all }: ClaimsSet): Reply | null => {
      const type = memberOf(all, 'token_type')
      return type === undefined || String(type).toLowerCase() === 'bearer' ? null : otherType
    }
    const parts = { auth: 'oauth2-introspection', refusals, forwarded, rules: [bearerRule] }
    const readerOf = (consumerClaim: string): TokenReader =>
      new TokenReader({ ...config, consumerClaim, requireExpiry: false }, parts)
    this.#lifetimes = lifetimes
    this.#withSub = readerOf(config.consumerClaim ?? 'sub')
    this.#withoutSub = readerOf(config.consumerClaim ?? 'client_id')
    const nothing = { binding: null, consumer: null, claims: new Map<string, string>(), lines: [] }
    this.#inactive = { ...ALWAYS, refusal: refusals.inactive, ...nothing }
  }

  /**
   * Reads a response. `active` confirms that the token is valid now, whatever the gateway's clock says (section 4).
   * `exp` only limits the time in the cache.
   * @param maxMs maximum time the result may be cached.
   * @throws IntrospectionFailed.
   */
  read(answer: HttpAnswer, maxMs = Number.POSITIVE_INFINITY): Found<VerifiedToken> {
    const claims = claimsOf(answer)
    if (claims === null) {
      const ttlMs = Math.min(this.#lifetimes.negativeTtlMs, maxMs)
      return { value: this.#inactive, ttlMs, bytes: 0, isNegative: true, isCallerSpecific: false }
    }
    const leftMs = Math.min(claims.exp === null ? maxMs : claims.exp * 1000 - Date.now(), maxMs)
    const times = leftMs > 0 ? { ...ALWAYS, expiresAt: Date.now() + leftMs } : ALWAYS
    const reader = memberOf(claims.all, 'sub') === undefined ? this.#withoutSub : this.#withSub
    return {
      value: reader.read(claims, null, times),
      ttlMs: Math.max(0, Math.min(this.#lifetimes.ttlMs, leftMs)),
      // The claims are kept three times: as received, as condition values and as header lines.
      bytes: TOKEN_BYTES + 3 * answer.body.length,
      ...{ isNegative: false, isCallerSpecific: false },
    }
  }
}

/** Returns the claims, or null if the token is not active. @throws IntrospectionFailed. */
function claimsOf({ status, body }: HttpAnswer): ClaimsSet | null {
  const object = parseStrictObject(body)
  if (status !== 200) {
    const code = errorCodeIn(object)
    if (status === 400 && TOKEN_ERRORS.has(code)) return null
    throw new IntrospectionFailed(`the server responded with ${withCode(status, code)}`, status === 400)
  }
  const active = object === null ? undefined : memberOf(object, 'active')
  if (active === false) return null
  if (active !== true) throw new IntrospectionFailed("the response is not a JSON object with 'active'", true)
  const claims = parseClaims(body)
  if (claims === null)
    throw new IntrospectionFailed('a claim in the response has the wrong type (RFC 7662)', true)
  return claims
}
