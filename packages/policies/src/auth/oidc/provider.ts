import { type CompileEnv, parseDuration } from '@sluice/core'
import {
  addressIn,
  type CallIssuer,
  compileIssuerCalls,
  fetchDocument,
  metadataAddress,
  metadataIn,
} from '../../identity/issuer/issuer-calls.js'
import { type Tenants, tenantsOf } from '../../identity/issuer/tenants.js'
import { type BuildClientCall, compileClientCalls } from '../../identity/oauth/client-auth.js'
import { readTokenResponse } from '../../identity/oauth/token-response.js'
import { digestOf } from '../../shared/call/call-sharing.js'
import { parseEndpoint } from '../../shared/call/endpoint.js'
import { SharedFetch } from '../../shared/call/shared-fetch.js'
import { MARGIN_MS, singleFlight } from '../../shared/call/single-flight.js'
import { type JsonObject, memberOf, parseStrictObject } from '../../shared/json/strict-json.js'
import type { OidcConfig } from './schema.js'

/** Age in milliseconds after which metadata are refreshed in the background. */
const REFRESH_MS = 600_000
const LOOK_EVERY_MS = 5000
/** Maximum token length that fits into a cookie and a request header. */
const MAX_TOKEN_LENGTH = 8192

/** Provider metadata (OpenID Connect Discovery 1.0, section 3). */
export interface ProviderMetadata {
  /** Issuer. Has a tenant placeholder if the provider has many tenants. */
  readonly issuer: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly userInfoEndpoint: string | null
  readonly endSessionEndpoint: string | null
  /** True if the provider names itself in each response (RFC 9207). */
  readonly sendsIssuer: boolean
}

/** Response of a token endpoint (RFC 6749, section 5.1). */
export interface IssuedTokens {
  readonly accessToken: string
  readonly idToken: string | null
  readonly refreshToken: string | null
  /** Lifetime in milliseconds, or null if the response does not say. */
  readonly lifeMs: number | null
  readonly scopes: string | null
}

/**
 * Client of an OpenID provider. Calls reject with GrantRefused, or with an Error whose message contains no
 * secret.
 */
export class Provider {
  readonly #tenants: Tenants | null
  readonly #redirectUri: string
  readonly #call: CallIssuer
  readonly #build: BuildClientCall
  readonly #metadata: MetadataCache

  /** @throws Error for an invalid address, key or time. */
  constructor(config: OidcConfig, env: CompileEnv) {
    const { issuer, tenants, timeout, tls } = config
    this.#tenants = tenantsOf(tenants)
    const hasTenants = tenants !== undefined
    this.#redirectUri = config.redirectUri
    const place = metadataAddress(issuer)
    const own = parseEndpoint(place, 'issuer')
    const call = compileIssuerCalls({ own, timeout, tls }, 'timeout', env)
    this.#call = call
    this.#build = compileClientCalls(config, issuer)
    const report = (reason: string): void => env.report('oidc_provider_failed', { issuer, reason })
    const name = `oidc-metadata:${digestOf(issuer, tls, hasTenants)}`
    this.#metadata = env.shared(name, () => new MetadataCache(report))
    const read = (body: Uint8Array) => readMetadata(body, issuer, hasTenants)
    const fetch = async () => {
      const bytes = await fetchDocument(call, place, 'issuer')
      return { value: read(bytes), bytes, ttlMs: REFRESH_MS }
    }
    // Never a cluster store: anyone who can write to it could redirect logins.
    const store = env.state.store('gateway')
    const waitMs = parseDuration(timeout) + MARGIN_MS
    env.onClose(this.#metadata.use(() => singleFlight({ store, key: name, waitMs, read, ask: fetch })))
    env.schedule(LOOK_EVERY_MS, () => this.#metadata.keepFresh())
  }

  metadata(): Promise<ProviderMetadata> {
    return this.#metadata.get()
  }

  /** Exchanges a code for tokens (RFC 6749 section 4.1.3) with the code verifier of RFC 7636. */
  exchangeCode(code: string, verifier: string): Promise<IssuedTokens> {
    return this.#askForTokens({
      ...{ grant_type: 'authorization_code', code, code_verifier: verifier },
      redirect_uri: this.#redirectUri,
    })
  }

  /** Gets new tokens for a refresh token (RFC 6749 section 6). */
  refresh(refreshToken: string): Promise<IssuedTokens> {
    return this.#askForTokens({ grant_type: 'refresh_token', refresh_token: refreshToken })
  }

  /** Returns the claims of the user (OpenID Connect Core 1.0, section 5.3). */
  async userInfo(accessToken: string): Promise<JsonObject> {
    const { userInfoEndpoint } = await this.metadata()
    if (userInfoEndpoint === null) throw new Error("the provider has no 'userinfo_endpoint'")
    const headers = ['accept', 'application/json', 'authorization', `Bearer ${accessToken}`]
    const { status, body } = await this.#call(userInfoEndpoint, 'userinfo_endpoint', {
      method: 'GET',
      headers,
    })
    const claims = status === 200 ? parseStrictObject(body) : null
    if (claims === null) throw new Error(`the userinfo endpoint responded with ${status} without claims`)
    return claims
  }

  async #askForTokens(grant: Readonly<Record<string, string>>): Promise<IssuedTokens> {
    const { tokenEndpoint } = await this.metadata()
    const answer = await this.#call(tokenEndpoint, 'token_endpoint', await this.#build(grant))
    const { accessToken, tokenIn, lifeMs, scope } = readTokenResponse(answer, {
      maxLength: MAX_TOKEN_LENGTH,
      isRefusal: (code) => code === 'invalid_grant',
    })
    return {
      ...{ accessToken, idToken: tokenIn('id_token'), refreshToken: tokenIn('refresh_token') },
      lifeMs: lifeMs === null ? null : Math.max(0, lifeMs),
      scopes: typeof scope === 'string' ? scope : null,
    }
  }

  /** True if the provider may use this issuer in a response. */
  isNamed(iss: string, { issuer }: ProviderMetadata): boolean {
    return this.#tenants === null ? iss === issuer : this.#tenants.isIssuer(issuer, iss)
  }
}

/** Provider metadata of one worker. Old metadata stay in use while a new fetch fails. */
class MetadataCache {
  readonly #fetch: SharedFetch<ProviderMetadata>
  #metadata: ProviderMetadata | null = null
  #fetchedMono = Number.NEGATIVE_INFINITY

  constructor(onFailure: (reason: string) => void) {
    this.#fetch = new SharedFetch({ onFailure })
  }

  use(fetch: () => Promise<ProviderMetadata>): () => void {
    return this.#fetch.use(async () => {
      this.#metadata = await fetch()
      this.#fetchedMono = performance.now()
      return this.#metadata
    })
  }

  async get(): Promise<ProviderMetadata> {
    if (this.#metadata !== null) return this.#metadata
    if (!this.#fetch.isRunning && this.#fetch.pauseLeftMs > 0)
      throw new Error('the metadata of the provider could not be fetched a moment ago')
    return this.#fetch.run()
  }

  keepFresh(): void {
    if (this.#metadata === null || this.#fetch.pauseLeftMs > 0) return
    if (performance.now() - this.#fetchedMono >= REFRESH_MS) this.#fetch.run().catch(() => {})
  }
}

function readMetadata(body: Uint8Array, issuer: string, hasTenants: boolean): ProviderMetadata {
  const metadata = metadataIn(body, issuer, hasTenants)
  const needed = (name: string): string => {
    const address = addressIn(metadata, name, issuer)
    if (address === null) throw new Error(`the provider metadata have no '${name}'`)
    return address
  }
  return {
    issuer: metadata.issuer,
    authorizationEndpoint: needed('authorization_endpoint'),
    tokenEndpoint: needed('token_endpoint'),
    userInfoEndpoint: addressIn(metadata, 'userinfo_endpoint', issuer),
    endSessionEndpoint: addressIn(metadata, 'end_session_endpoint', issuer),
    sendsIssuer: memberOf(metadata, 'authorization_response_iss_parameter_supported') === true,
  }
}
