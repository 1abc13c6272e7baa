import {
  definePolicy,
  type Eventual,
  type Exchange,
  HttpCallFailed,
  type Outcome,
  parseSize,
} from '@sluice/core'
import { ForwardedClaims } from '../../identity/token/forwarded-claims.js'
import { isHolder } from '../../identity/token/token-binding.js'
import { tokenLocation } from '../../identity/token/token-location.js'
import { DEFAULT_TOKEN_BYTES } from '../../identity/token/token-options.js'
import type { VerifiedToken } from '../../identity/token/verified-tokens.js'
import { CALL_LOOP, hopField } from '../../shared/call/call-hops.js'
import { parseEndpoint } from '../../shared/call/endpoint.js'
import type { CredentialLocation } from '../../shared/field-location/credential.js'
import { AnswerReader, IntrospectionFailed } from './answer-reader.js'
import { Introspection, lifetimesOf } from './introspection.js'
import { type IntrospectionRefusals, introspectionRefusals } from './refusals.js'
import { type IntrospectionConfig, introspectionSchema } from './schema.js'

/**
 * The `oauth2-introspection` policy. Asks an authorization server if a token is active, and identifies the
 * consumer.
 */
export const oauth2Introspection = definePolicy({
  name: 'oauth2-introspection',
  summary: 'Asks an authorization server if a token is active (RFC 7662), and identifies the consumer.',
  schema: introspectionSchema,
  cost: 'io',
  secretNames: (config) => [tokenLocation(config).name],
  authenticates: () => 'request',
  compile(config, env) {
    const refusals = introspectionRefusals(config, env)
    const location = tokenLocation(config)
    const forwarded = new ForwardedClaims(config.forwardClaims ?? {}, location.name)
    const reader = new AnswerReader(config, refusals, forwarded, lifetimesOf(config))
    const introspection = new Introspection(config, env, reader)
    const { origin } = parseEndpoint(config.url, 'url')
    const report = (reason: string): void => env.report('introspection_failed', { server: origin, reason })
    const gate = new TokenGate(config, { location, forwarded, introspection, refusals, report })
    return { name: 'oauth2-introspection', onRequest: (x) => gate.admit(x) }
  },
})

interface GateParts {
  readonly location: CredentialLocation
  readonly forwarded: ForwardedClaims
  readonly introspection: Introspection
  readonly refusals: IntrospectionRefusals
  report(reason: string): void
}

/** Syntax of bearer tokens (RFC 6750 section 2.1). */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/

/** Decides on one request. A cached token costs one digest and one map lookup. */
class TokenGate {
  readonly #parts: GateParts
  readonly #maxLength: number
  readonly #strips: boolean

  constructor(config: IntrospectionConfig, parts: GateParts) {
    this.#parts = parts
    this.#maxLength = parseSize(config.maxTokenBytes ?? DEFAULT_TOKEN_BYTES)
    this.#strips = config.strip ?? true
  }

  admit(x: Exchange): Eventual {
    const { location, forwarded, introspection, refusals } = this.#parts
    forwarded.clear(x.headers)
    const token = location.read(x)
    if (token === '') return refusals.missing
    if (token === null || token.length > this.#maxLength || !TOKEN.test(token)) return refusals.malformed
    const hop = hopField(x)
    if (hop === null) return CALL_LOOP
    const found = introspection.tokenOf(token, hop)
    if (!(found instanceof Promise)) return this.#decide(x, found)
    return found.then(
      (late) => this.#decide(x, late),
      (error: unknown) => this.#fail(x, error),
    )
  }

  #decide(x: Exchange, token: VerifiedToken): Outcome {
    const { location, refusals } = this.#parts
    if (x.startedAt >= token.expiresAt) return refusals.expired
    if (token.refusal !== null) return token.refusal
    if (!isHolder(x.clientCertificate, token.binding)) return refusals.binding
    if (this.#strips) location.strip(x)
    for (let i = 0; i < token.lines.length; i++) x.headers.push(token.lines[i]!)
    x.identify(token.consumer!)
    x.claims = token.claims
    return null
  }

  /** @throws the error if the server did not cause it. */
  #fail(x: Exchange, error: unknown): Outcome {
    if (!(error instanceof HttpCallFailed) && !(error instanceof IntrospectionFailed)) throw error
    const reason = error instanceof HttpCallFailed ? `${error.failure}: ${error.message}` : error.message
    this.#parts.report(reason)
    x.record.reason = reason
    return this.#parts.refusals.unavailable
  }
}
