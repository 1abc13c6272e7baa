import type { Consumer, Reply } from '@sluice/core'
import type { SignatureKey } from '../../crypto/jose/key-set.js'
import { memberOf } from '../../shared/json/strict-json.js'
import { claimTexts } from './claim.js'
import { type ClaimRule, type ClaimRulesConfig, compileRules } from './claim-rules.js'
import type { ClaimsSet } from './claims-set.js'
import { consumerIn } from './consumer-claims.js'
import type { ForwardedClaims } from './forwarded-claims.js'
import type { TokenRefusals } from './refusals.js'
import { bindingOf, type TokenBinding } from './token-binding.js'
import type { ConsumerConfig } from './token-options.js'

/** Times of a token in milliseconds since 1970, including the clock skew. */
export interface TokenTimes {
  /** Time from which the token is expired. */
  readonly expiresAt: number
  /** Time from which the token is valid. */
  readonly validFrom: number
}

/** A token whose claims can be trusted, and the decision about it. */
export interface VerifiedToken extends TokenTimes {
  /** Response to requests with this token, or null if the token is accepted. */
  readonly refusal: Reply | null
  readonly binding: TokenBinding
  /** Consumer, or null if the token is refused. */
  readonly consumer: Consumer | null
  readonly claims: ReadonlyMap<string, string>
  /** Header lines for the upstream, as a flat list. */
  readonly lines: readonly string[]
}

interface TokenReaderParts {
  /** Policy that verifies the tokens. */
  readonly auth: string
  readonly refusals: TokenRefusals
  readonly forwarded: ForwardedClaims
  /** Rules of the policy that are checked before the configured ones. */
  readonly rules?: readonly ClaimRule[]
}

/** Decides on the claims of verified tokens. */
export class TokenReader {
  readonly #config: ClaimRulesConfig & ConsumerConfig
  readonly #parts: TokenReaderParts
  readonly #rules: readonly ClaimRule[]

  constructor(config: ClaimRulesConfig & ConsumerConfig, parts: TokenReaderParts) {
    this.#config = config
    this.#parts = parts
    this.#rules = [...(parts.rules ?? []), ...compileRules(config, parts.refusals)]
  }

  /** Reads a token. @param key the key that has verified the signature, or null. */
  read(claims: ClaimsSet, key: SignatureKey | null, times: TokenTimes): VerifiedToken {
    const { all } = claims
    const { auth, forwarded } = this.#parts
    const refusal = this.objectionTo(claims, key)
    const texts = claimTexts(all)
    const consumer = refusal === null ? consumerIn(all, { ...this.#config, auth, texts }) : null
    const binding = bindingOf(all) ?? null
    return { ...times, refusal, binding, consumer, claims: texts, lines: forwarded.linesOf(all) }
  }

  /** Returns the refusal of a token whose claims are not accepted, or null. Times are not checked. */
  objectionTo(claims: ClaimsSet, key: SignatureKey | null): Reply | null {
    const { refusals } = this.#parts
    const { iss, all } = claims
    if (key?.issuer?.(iss, memberOf(all, 'tid')) === false) return refusals.issuer
    if (bindingOf(all) === undefined) return refusals.binding
    for (const rule of this.#rules) {
      const refusal = rule(claims)
      if (refusal !== null) return refusal
    }
    return null
  }
}
