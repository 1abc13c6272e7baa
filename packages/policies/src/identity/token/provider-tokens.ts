import { createHash } from 'node:crypto'
import type { TObject } from '@sinclair/typebox'
import { type CompileEnv, type Configured, type Exchange, parseDuration } from '@sluice/core'
import { parseJoseHeader } from '../../crypto/jose/jws-header.js'
import { signatureChecks } from '../../crypto/keys/signature-checks.js'
import { callTls } from '../../shared/call/call-tls.js'
import { memberOf } from '../../shared/json/strict-json.js'
import { oneOf, optionalDuration, optionalList, text } from '../../shared/options/options.js'
import { KeysUnavailable } from '../issuer/remote-key-set.js'
import { openRemoteKeys } from '../issuer/remote-keys.js'
import { tenantsSchema } from '../issuer/tenants.js'
import { type ClaimsSet, timesOf } from './claims-set.js'
import { ForwardedClaims } from './forwarded-claims.js'
import { compileRefusals } from './refusals.js'
import { TokenReader } from './token-reader.js'
import { TokenVerifier } from './token-verifier.js'

/** Options that identify a provider. */
export const providerOptions = {
  issuer: text(
    2048,
    'Issuer of the provider. Its metadata are at `/.well-known/openid-configuration` (OpenID Connect Discovery).',
    { destination: true },
  ),
  tenants: tenantsSchema,
  algorithms: optionalList(
    oneOf(['ES256', 'ES384', 'ES512', 'EdDSA', 'PS256', 'PS384', 'PS512', 'RS256'], 'Signature algorithm.'),
    'Accepted signature algorithms of tokens.',
    { default: ['ES256', 'RS256', 'PS256', 'EdDSA'], minItems: 1, uniqueItems: true },
  ),
  clockSkew: optionalDuration('Allowed clock difference.', '60s'),
  timeout: optionalDuration('Timeout of each call to the provider, 1ms to 20s.', '5s'),
  tls: callTls,
}

/** Configuration of a provider and its client. */
export type ProviderConfig = Configured<TObject<typeof providerOptions>> & { readonly clientId: string }

/** Maximum that `iat` may be in the future, in milliseconds. Tolerates provider clocks that are ahead. */
const MAX_AHEAD_MS = 600_000

/** Returns the hash for `at_hash` (OpenID Connect Core 1.0, section 3.1.3.6). Ed25519 uses SHA-512. */
function hashOf(alg: string): string {
  return alg.startsWith('Ed') ? 'sha512' : `sha${alg.slice(-3)}`
}

/** The login that an ID token must belong to. */
export interface IdTokenContext {
  readonly x: Exchange
  readonly nonce: unknown
  readonly accessToken: string
  readonly isRefreshed?: boolean
}

/** Verifies tokens that a provider signed for a client. */
export class ProviderTokens {
  readonly #verifier: TokenVerifier
  readonly #reader: TokenReader
  readonly #clientId: string
  readonly #skewMs: number

  /**
   * @param types accepted values of `typ` of logout tokens. If absent, ID tokens are verified.
   * @throws Error for an invalid address.
   */
  constructor(config: ProviderConfig, env: CompileEnv, types?: readonly string[]) {
    const { issuer, tenants, clientId, timeout, tls, algorithms } = config
    const jwks = {
      ...{ discovery: issuer, timeout, refresh: '10m', maxStale: '1d', ...(tls !== undefined && { tls }) },
      ...(tenants !== undefined && { tenants }),
    }
    const keys = openRemoteKeys(jwks, { allowed: algorithms, allowWeak: false }, env)
    const refusals = compileRefusals({}, env)
    this.#verifier = new TokenVerifier({ types, keys, refusals, checks: signatureChecks(env) })
    const rules = {
      audiences: [clientId],
      // Metadata keys sign only for their own issuer, or for the listed tenants.
      ...(tenants === undefined && { issuers: [issuer] }),
      // Logout tokens may identify only a session, and need not expire.
      ...(types === undefined
        ? { requireExpiry: true, consumerClaim: 'sub' }
        : { requireExpiry: false, consumerClaim: 'jti' }),
    }
    this.#reader = new TokenReader(rules, { auth: 'oidc', refusals, forwarded: new ForwardedClaims({}, '') })
    this.#clientId = clientId
    this.#skewMs = parseDuration(config.clockSkew)
  }

  /**
   * Returns the claims of a token that is valid now. Rejects with KeysUnavailable, or with an Error that
   * gives the reason.
   */
  async verify(token: string, x: Exchange): Promise<ClaimsSet> {
    const verdict = await this.#verifier.verify(token, x)
    if ('refusal' in verdict) {
      const { status, problem } = verdict.refusal
      const reason = verdict.reason ?? problem!.detail
      throw status === 503 ? new KeysUnavailable(reason) : new Error(reason)
    }
    const { claims, key } = verdict
    const objection = this.#reader.objectionTo(claims, key)
    if (objection !== null) throw new Error(objection.problem!.detail)
    const { expiresAt, validFrom } = timesOf(claims, this.#skewMs)
    const now = Date.now()
    if (now >= expiresAt || now < validFrom) throw new Error('the token is not valid now')
    return claims
  }

  /**
   * Returns the claims of an ID token (OpenID Connect Core 1.0, section 3.1.3.7). Rejects with an Error that
   * says what is wrong.
   * @param nonce nonce of the login.
   * @param isRefreshed true if the token came from a refresh, and may have no nonce.
   */
  async verifyIdToken(
    token: string,
    { x, nonce, accessToken, isRefreshed = false }: IdTokenContext,
  ): Promise<ClaimsSet> {
    const claims = await this.verify(token, x)
    const { all, aud } = claims
    const azp = memberOf(all, 'azp')
    if (azp === undefined ? aud.length > 1 : azp !== this.#clientId)
      throw new Error('the ID token is for another client')
    const iat = memberOf(all, 'iat')
    if (iat === undefined) throw new Error("the ID token has no 'iat'")
    if ((iat as number) * 1000 > Date.now() + MAX_AHEAD_MS)
      throw new Error("the ID token was issued in the future: its 'iat' is more than 10 minutes ahead")
    const given = memberOf(all, 'nonce')
    if (given !== nonce && !(isRefreshed && given === undefined))
      throw new Error('the ID token belongs to another login')
    const { alg } = parseJoseHeader(token.slice(0, token.indexOf('.')))!
    const atHash = memberOf(all, 'at_hash')
    if (atHash !== undefined && atHash !== halfHash(alg, accessToken))
      throw new Error('the ID token belongs to another access token')
    return claims
  }
}

function halfHash(alg: string, token: string): string {
  const digest = createHash(hashOf(alg)).update(token, 'latin1').digest()
  return digest.subarray(0, digest.length / 2).toString('base64url')
}
