import { type Exchange, type Outcome, parseSize, type Reply } from '@sluice/core'
import type { CredentialLocation } from '../../shared/field-location/credential.js'
import type { ForwardedClaims } from './forwarded-claims.js'
import type { TokenRefusals } from './refusals.js'
import { isHolder } from './token-binding.js'
import { type PlaceConfig, tokenLocation } from './token-options.js'
import type { VerifiedToken } from './token-reader.js'

/** Reads the tokens of requests, and applies the decisions about them. */
export class BearerGate {
  readonly #location: CredentialLocation
  readonly #forwarded: ForwardedClaims
  readonly #refusals: TokenRefusals
  readonly #maxLength: number
  readonly #strips: boolean

  constructor(config: PlaceConfig, forwarded: ForwardedClaims, refusals: TokenRefusals) {
    this.#location = tokenLocation(config)
    this.#forwarded = forwarded
    this.#refusals = refusals
    this.#maxLength = parseSize(config.maxTokenBytes)
    this.#strips = config.strip
  }

  /** Returns the token of a request, or a refusal. Removes the fields that only verified claims may set. */
  read(x: Exchange): string | Reply {
    this.#forwarded.clear(x.headers)
    const token = this.#location.read(x)
    if (token === '') return this.#refusals.missing
    return token === null || token.length > this.#maxLength ? this.#refusals.malformed : token
  }

  /** Accepts or refuses a request with a verified token. The times are checked for every request. */
  decide(x: Exchange, token: VerifiedToken): Outcome {
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
