import { createHash } from 'node:crypto'
import type { CompileEnv, Exchange } from '@sluice/core'
import { parseJoseHeader } from '../../crypto/jose/jws-header.js'
import { KeysUnavailable } from '../../crypto/jose/remote-key-set.js'
import { openRemoteKeys } from '../../crypto/jose/remote-keys.js'
import { signatureChecks } from '../../crypto/keys/signature-checks.js'
import { decode } from '../../shared/encoding/byte-text.js'
import { memberOf } from '../../shared/json/strict-json.js'
import { type ClaimsSet, parseClaims } from './claims-set.js'
import { DEFAULT_TIMEOUT, type ProviderConfig } from './provider-options.js'
import { compileRefusals } from './refusals.js'
import { DEFAULT_ALGORITHMS, DEFAULT_SKEW, type TokenConfig } from './token-options.js'
import { TokenVerifier } from './token-verifier.js'

/** Maximum that `iat` may be in the future, in milliseconds. Tolerates provider clocks that are ahead. */
const MAX_AHEAD_MS = 600_000

/** Configuration of token verification: the provider, the client and the accepted algorithms. */
export interface ProviderTokensConfig extends ProviderConfig {
  readonly clientId: string
}

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
  readonly #clientId: string

  /**
   * @param types accepted values of `typ`. If absent, the usual types or no type.
   * @throws Error for an invalid address.
   */
  constructor(config: ProviderTokensConfig, env: CompileEnv, types?: readonly string[]) {
    const { issuer, tenants, clientId, timeout = DEFAULT_TIMEOUT, tls } = config
    const { algorithms = [...DEFAULT_ALGORITHMS] } = config
    const jwks = {
      ...{ discovery: issuer, timeout, ...(tls !== undefined && { tls }) },
      ...(tenants !== undefined && { tenants }),
    }
    const accepted = { allowed: algorithms, allowWeak: false }
    const keys = openRemoteKeys(jwks, accepted, env)
    const rules: TokenConfig = {
      audiences: [clientId],
      // Metadata keys sign only for their own issuer, or for the listed tenants.
      ...(tenants === undefined && { issuers: [issuer] }),
      ...{ clockSkew: config.clockSkew ?? DEFAULT_SKEW, requireExpiry: types === undefined },
      // Logout tokens may identify only a session.
      ...(types !== undefined && { types: [...types], consumerClaim: 'jti' }),
    }
    this.#verifier = new TokenVerifier(rules, keys, compileRefusals({}, env), signatureChecks(env))
    this.#clientId = clientId
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
    const { refusal, expiresAt, validFrom } = verdict.verified
    if (refusal !== null) throw new Error(refusal.problem!.detail)
    const now = Date.now()
    if (now >= expiresAt || now < validFrom) throw new Error('the token is not valid now')
    return parseClaims(decode(token.split('.')[1]!, 'base64url')!)!
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
