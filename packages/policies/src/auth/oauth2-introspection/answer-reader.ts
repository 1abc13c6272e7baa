import type { HttpAnswer, Reply } from '@sluice/core'
import { claimTexts } from '../../identity/token/claim.js'
import { type ClaimRule, compileRules } from '../../identity/token/claim-rules.js'
import { type ClaimsSet, parseClaims } from '../../identity/token/claims-set.js'
import { consumerIn } from '../../identity/token/consumer-claims.js'
import type { ForwardedClaims } from '../../identity/token/forwarded-claims.js'
import { bindingOf } from '../../identity/token/token-binding.js'
import type { VerifiedToken } from '../../identity/token/verified-tokens.js'
import type { Found } from '../../shared/call/call-cache.js'
import { memberOf, parseStrictObject } from '../../shared/json/strict-json.js'
import type { IntrospectionRefusals } from './refusals.js'
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

/** Time that introspection responses are cached. */
export interface Lifetimes {
  readonly ttlMs: number
  readonly negativeTtlMs: number
}

/** Estimated size of a cached token without its claims. */
const TOKEN_BYTES = 500
/**
 * Error codes about the token, not about the gateway (RFC 6749 section 5.2, RFC 6750 section 3.1, RFC 7009
 * section 2.2.1).
 */
const TOKEN_ERRORS: ReadonlySet<unknown> = new Set([
  'invalid_request',
  'invalid_token',
  'unsupported_token_type',
])

/** Reads introspection responses (RFC 7662 section 2.2). */
export class AnswerReader {
  readonly #config: IntrospectionConfig
  readonly #refusals: IntrospectionRefusals
  readonly #forwarded: ForwardedClaims
  readonly #lifetimes: Lifetimes
  /** Claim rules by the claim that identifies the consumer. */
  readonly #rules: ReadonlyMap<string, readonly ClaimRule[]>
  readonly #inactive: VerifiedToken

  constructor(
    config: IntrospectionConfig,
    refusals: IntrospectionRefusals,
    forwarded: ForwardedClaims,
    lifetimes: Lifetimes,
  ) {
    this.#config = config
    this.#refusals = refusals
    this.#forwarded = forwarded
    this.#lifetimes = lifetimes
    const idClaims = config.consumerClaim === undefined ? ['sub', 'client_id'] : [config.consumerClaim]
    this.#rules = new Map(
      idClaims.map((consumerClaim) => [
        consumerClaim,
        compileRules({ ...config, consumerClaim, requireExpiry: false }, refusals),
      ]),
    )
    this.#inactive = tokenRefusedAs(refusals.inactive)
  }

  /** Reads a response. @param maxMs maximum time the result may be cached. @throws IntrospectionFailed. */
  read(answer: HttpAnswer, maxMs = Number.POSITIVE_INFINITY): Found<VerifiedToken> {
    const claims = claimsOf(answer)
    if (claims === null) {
      const ttlMs = Math.min(this.#lifetimes.negativeTtlMs, maxMs)
      return { value: this.#inactive, ttlMs, bytes: 0, isNegative: true, isCallerSpecific: false }
    }
    const leftMs = Math.min(claims.exp === null ? maxMs : claims.exp * 1000 - Date.now(), maxMs)
    return {
      value: this.#tokenOf(claims, leftMs),
      ttlMs: Math.max(0, Math.min(this.#lifetimes.ttlMs, leftMs)),
      // The claims are kept three times: as received, as condition values and as header lines.
      bytes: TOKEN_BYTES + 3 * answer.body.length,
      ...{ isNegative: false, isCallerSpecific: false },
    }
  }

  /**
   * `active` confirms that the token is valid now, whatever the gateway's clock says (section 4). `exp` only
   * limits the time in the cache.
   */
  #tokenOf(claims: ClaimsSet, leftMs: number): VerifiedToken {
    const { all } = claims
    const consumerClaim =
      this.#config.consumerClaim ?? (memberOf(all, 'sub') === undefined ? 'client_id' : 'sub')
    const binding = bindingOf(all)
    const refusal =
      binding === undefined
        ? this.#refusals.binding
        : this.#refusalFor(claims, this.#rules.get(consumerClaim)!)
    const texts = claimTexts(all)
    const named = { ...this.#config, consumerClaim, auth: 'oauth2-introspection', texts }
    return {
      expiresAt: leftMs > 0 ? Date.now() + leftMs : Number.POSITIVE_INFINITY,
      validFrom: Number.NEGATIVE_INFINITY,
      refusal,
      binding: binding ?? null,
      consumer: refusal === null ? consumerIn(all, named) : null,
      claims: texts,
      lines: this.#forwarded.linesOf(all),
    }
  }

  #refusalFor(claims: ClaimsSet, rules: readonly ClaimRule[]): Reply | null {
    // A token bound to a key is not a bearer token, and its proof is not checked here.
    const type = memberOf(claims.all, 'token_type')
    if (type !== undefined && String(type).toLowerCase() !== 'bearer')
      return this.#refusals.claim('token_type')
    for (const rule of rules) {
      const refusal = rule(claims)
      if (refusal !== null) return refusal
    }
    return null
  }
}

function tokenRefusedAs(refusal: Reply): VerifiedToken {
  return {
    ...{ expiresAt: Number.POSITIVE_INFINITY, validFrom: Number.NEGATIVE_INFINITY },
    ...{ refusal, binding: null, consumer: null, claims: new Map(), lines: [] },
  }
}

/** Returns the claims, or null if the token is not active. @throws IntrospectionFailed. */
function claimsOf({ status, body }: HttpAnswer): ClaimsSet | null {
  const object = parseStrictObject(body)
  if (status !== 200) {
    const code = object === null ? undefined : memberOf(object, 'error')
    if (status === 400 && TOKEN_ERRORS.has(code)) return null
    const isCode = typeof code === 'string' && /^[a-z_]{1,64}$/.test(code)
    throw new IntrospectionFailed(
      `the server answered ${status}${isCode ? ` (${code})` : ''}`,
      status === 400,
    )
  }
  const active = object === null ? undefined : memberOf(object, 'active')
  if (active === false) return null
  if (active !== true) throw new IntrospectionFailed("the response is not a JSON object with 'active'", true)
  const claims = parseClaims(body)
  if (claims === null)
    throw new IntrospectionFailed('a claim in the response has the wrong type (RFC 7662)', true)
  return claims
}
