import { createHash, randomBytes } from 'node:crypto'
import { isLoopback } from '@sluice/config'
import type { Configuration } from 'openid-client'
import type { Grant } from '../store/log-entry.js'
import type { Person } from './access.js'

/** Settings of the login by OpenID Connect. */
export interface OidcOptions {
  /** URL of the provider. */
  readonly issuer: string
  readonly clientId: string
  /** Null for a client without a secret. */
  readonly clientSecret: string | null
  /** Requested scopes, separated by spaces. */
  readonly scope: string
  /** Claim whose values decide about roles. */
  readonly claim: string
  /** Roles by value of the claim. Several values may have several roles. */
  readonly roles: readonly (Grant & { readonly value: string })[]
}

/** Reason of a failed login. `noRole`: the provider knows the person, but no role is for their claim. */
export class LoginFailed extends Error {
  readonly reason: 'noRole' | 'failed' | 'unavailable'

  constructor(reason: LoginFailed['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** Timeout of calls to the provider in seconds. */
const TIMEOUT_S = 10
/** Maximum number of logins that wait for the provider. */
const MAX_LOGINS = 32
const MAX_NAME_LENGTH = 100

/**
 * Logs people in at an OpenID Connect provider, by the authorization code flow with PKCE, state and nonce. One secret
 * per login stays in a cookie of the browser: it is the PKCE verifier, and state and nonce are derived from it. The
 * controller keeps nothing, so clients cannot fill its memory.
 */
export class OidcLogin {
  readonly #options: OidcOptions
  #provider: Promise<Configuration> | null = null
  #waiting = 0

  /** @throws Error if the issuer does not use TLS and is not on loopback */
  constructor(options: OidcOptions) {
    const { protocol, hostname } = new URL(options.issuer)
    if (protocol !== 'https:' && !isLoopback(hostname))
      throw new Error('the OpenID Connect issuer must use https')
    this.#options = options
  }

  /** Returns the URL of the provider's login page, and the secret of this login. @throws LoginFailed */
  async begin(redirectUri: string): Promise<{ readonly url: string; readonly secret: string }> {
    const [client, provider] = await this.#connect()
    const secret = randomBytes(32).toString('base64url')
    const url = client.buildAuthorizationUrl(provider, {
      redirect_uri: redirectUri,
      scope: this.#options.scope,
      code_challenge: await client.calculatePKCECodeChallenge(secret),
      code_challenge_method: 'S256',
      state: derived('state', secret),
      nonce: derived('nonce', secret),
    })
    return { url: url.href, secret }
  }

  /** Returns the person whom the provider has sent back. @throws LoginFailed */
  async finish(url: string, secret: string): Promise<Person> {
    if (secret === '') throw new LoginFailed('failed', 'no login is in progress in this browser')
    if (this.#waiting >= MAX_LOGINS) throw new LoginFailed('unavailable', 'too many logins at the same time')
    this.#waiting++
    try {
      const claims = await this.#claims(new URL(url), secret)
      const { claim, roles } = this.#options
      // Anyone may claim an address that the provider has not verified.
      const isVerified = claim !== 'email' || claims['email_verified'] === true
      const values = isVerified ? [claims[claim] ?? []].flat() : []
      const grants = roles.filter(({ value }) => values.includes(value))
      const name = nameIn(claims)
      if (grants.length === 0) throw new LoginFailed('noRole', `no role for ${name}`)
      return { actor: name, grants: grants.map(({ role, groups }) => ({ role, groups })) }
    } finally {
      this.#waiting--
    }
  }

  /** Returns the provider's logout page, or null if it has none. */
  async logoutUrl(): Promise<string | null> {
    const connected = await this.#connect().catch(() => null)
    if (connected === null || connected[1].serverMetadata().end_session_endpoint === undefined) return null
    return connected[0].buildEndSessionUrl(connected[1]).href
  }

  /** Exchanges the code. If the ID token lacks the claim, asks the userinfo endpoint. */
  async #claims(url: URL, secret: string): Promise<Claims> {
    const [client, provider] = await this.#connect()
    try {
      const tokens = await client.authorizationCodeGrant(provider, url, {
        pkceCodeVerifier: secret,
        expectedState: derived('state', secret),
        expectedNonce: derived('nonce', secret),
        idTokenExpected: true,
      })
      const claims = tokens.claims()!
      if (
        claims[this.#options.claim] !== undefined ||
        provider.serverMetadata().userinfo_endpoint === undefined
      )
        return claims
      return { ...claims, ...(await client.fetchUserInfo(provider, tokens.access_token, claims.sub)) }
    } catch (error) {
      throw new LoginFailed('failed', (error as Error).message)
    }
  }

  /** Loads the library, and the provider's metadata until that succeeds once. @throws LoginFailed */
  async #connect(): Promise<readonly [typeof import('openid-client'), Configuration]> {
    const client = await import('openid-client')
    const { issuer, clientId, clientSecret } = this.#options
    const basic = client.ClientSecretBasic(clientSecret ?? '')
    const post = client.ClientSecretPost(clientSecret ?? '')
    // Basic is the default of OpenID Connect, which a provider need not declare.
    const authentication: typeof basic = (server, ...rest) =>
      (server.token_endpoint_auth_methods_supported?.includes('client_secret_basic') === false
        ? post
        : basic)(server, ...rest)
    this.#provider ??= client.discovery(
      new URL(issuer),
      clientId,
      undefined,
      clientSecret === null ? client.None() : authentication,
      {
        timeout: TIMEOUT_S,
        execute: new URL(issuer).protocol === 'https:' ? [] : [client.allowInsecureRequests],
      },
    )
    try {
      return [client, await this.#provider]
    } catch (error) {
      this.#provider = null
      throw new LoginFailed('unavailable', (error as Error).message)
    }
  }
}

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string }

/** Returns a name for the audit trail. People may choose their names, but the provider chooses the subject. */
function nameIn({ sub, email, preferred_username: username }: Claims): string {
  const name = [email, username].find((text) => typeof text === 'string' && text !== '') ?? sub
  const [shown, subject] = [String(name), sub].map((text) =>
    text.replace(/[^\x21-\x7e\xa1-\uffff]/g, ' ').slice(0, MAX_NAME_LENGTH),
  )
  return `${shown} (oidc:${subject})`
}

function derived(purpose: string, secret: string): string {
  return createHash('sha256').update(`${purpose} ${secret}`).digest('base64url')
}
