import { createHash, randomBytes } from 'node:crypto'
import type { CompileEnv, Exchange, Reply } from '@sluice/core'
import { GrantRefused } from '../../identity/oauth/token-response.js'
import type { CookieSeal } from '../../identity/session/cookie-seal.js'
import {
  type LoginStart,
  mayRestart,
  type PendingLogin,
  PendingLogins,
  pageOf,
  UnknownLogin,
} from '../../identity/session/pending-logins.js'
import { loginUnavailable, redirect } from '../../identity/session/redirect.js'
import type { Session } from '../../identity/session/session.js'
import { isNavigation, type Site } from '../../identity/session/site.js'
import { claimAt } from '../../identity/token/claim.js'
import { idOf } from '../../identity/token/claim-rules.js'
import type { ProviderTokens } from '../../identity/token/provider-tokens.js'
import { reasonOf } from '../../shared/call/call-options.js'
import type { Cookies } from '../../shared/field-location/cookie.js'
import { isJsonObject, type JsonObject, memberOf } from '../../shared/json/strict-json.js'
import type { IssuedTokens, Provider } from './provider.js'
import type { OidcConfig } from './schema.js'
import { type TokenUse, tokensOf } from './token-use.js'

/** Login secrets that are needed again when the browser returns. */
interface LoginFacts {
  readonly nonce: string
  /** PKCE code verifier (RFC 7636, section 4.1). */
  readonly verifier: string
}

/** Parameters of the login URL that the gateway sets itself. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state', 'nonce'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri'],
])

/** Collaborators of `Login`. */
export interface LoginParts {
  readonly site: Site
  readonly provider: Provider
  readonly tokens: ProviderTokens
  readonly sealed: CookieSeal
  readonly use: TokenUse
}

/** The login cannot be completed. The message is for the operator, `detail` is for the user. */
class LoginFailed extends Error {
  readonly detail: string

  constructor(reason: string, detail: string) {
    super(reason)
    this.detail = detail
  }
}

/** Redirects browsers to the provider, and creates sessions from its responses. */
export class Login {
  readonly #config: OidcConfig
  readonly #parts: LoginParts
  readonly #env: CompileEnv
  readonly #logins: PendingLogins<LoginFacts>

  /** @throws Error if `parameters` sets a parameter that the gateway sets itself. */
  constructor(config: OidcConfig, parts: LoginParts, env: CompileEnv) {
    const own = Object.keys(config.parameters ?? {}).find((name) => OWN_PARAMETERS.has(name))
    if (own !== undefined) throw new Error(`'parameters' cannot set '${own}': the gateway sets it`)
    this.#config = config
    this.#parts = parts
    this.#env = env
    const { sealed, site } = parts
    this.#logins = new PendingLogins({ cookie: config.session.cookie, sealed, isSecure: site.isSecure })
  }

  /** True if the cookie belongs to a pending login. */
  isCookie(name: string): boolean {
    return this.#logins.isCookie(name)
  }

  /**
   * Redirects to the provider. Rejects if its metadata are unavailable.
   * @param ended Set-Cookie lines that remove a session.
   */
  begin(x: Exchange, cookies: Cookies, ended: readonly string[]): Promise<Reply> {
    return this.#start({ returnTo: pageOf(x) }, cookies, ended)
  }

  async #start(start: LoginStart, cookies: Cookies, ended: readonly string[]): Promise<Reply> {
    const { authorizationEndpoint } = await this.#parts.provider.metadata()
    const facts = { nonce: randomText(), verifier: randomText() }
    const { key, fields } = this.#logins.begin(start, cookies, facts)
    return redirect(this.#addressOf(authorizationEndpoint, key, facts), [...ended, ...fields])
  }

  #addressOf(endpoint: string, state: string, { nonce, verifier }: LoginFacts): string {
    const { clientId, redirectUri, parameters = {} } = this.#config
    const url = new URL(endpoint)
    for (const [name, value] of Object.entries({
      ...parameters,
      ...{ client_id: clientId, redirect_uri: redirectUri, response_type: 'code', state, nonce },
      scope: scopeText(this.#config),
      ...{ code_challenge: challengeOf(verifier), code_challenge_method: 'S256' },
    }))
      url.searchParams.set(name, value)
    return url.href
  }

  /**
   * Completes a login after the browser has returned (RFC 6749, section 4.1.2).
   * @param write returns the Set-Cookie lines of a session, or null if it is too large for cookies.
   */
  async finish(
    x: Exchange,
    cookies: Cookies,
    write: (session: Session) => readonly string[] | null,
  ): Promise<Reply> {
    const ended: string[] = []
    const state = x.method === 'GET' ? parameterIn(x, 'state') : null
    let returnTo = '/'
    try {
      const login = this.#logins.take(state, cookies, ended)
      returnTo = login.returnTo
      const session = await this.#sessionOf(x, login)
      const set = write(session)
      if (set === null)
        throw new LoginFailed('the tokens are too long for cookies', 'the session is too large')
      return redirect(`${this.#parts.site.origin}${login.returnTo}`, [...ended, ...set])
    } catch (error) {
      // The browser logs in again if the login was evicted by other tabs, the response is repeated, or the
      // user took too long.
      const isLost = error instanceof UnknownLogin || error instanceof GrantRefused
      // Restarts only for page loads. Other sites could otherwise load images from here and fill the browser
      // with login cookies.
      if (!isLost || !mayRestart(state) || !isNavigation(x)) return this.#failure(x, error, ended)
      x.record.reason = reasonOf(error)
      const begun = this.#start({ returnTo, isRestart: true }, cookies, ended)
      return begun.catch((failure: unknown) => this.#failure(x, failure, ended))
    }
  }

  async #sessionOf(x: Exchange, { facts }: PendingLogin<LoginFacts>): Promise<Session> {
    const { provider, tokens, use } = this.#parts
    await this.#checkIssuer(x)
    const error = parameterIn(x, 'error')
    if (error !== null) {
      const code = /^[a-z_]{1,64}$/.test(error) ? error : 'unknown'
      throw new LoginFailed(`the provider responded with ${code}`, `the provider refused the login (${code})`)
    }
    const code = parameterIn(x, 'code')
    if (code === null) throw new LoginFailed('no code', 'the provider sent no code')
    const issued = await provider.exchangeCode(code, facts.verifier)
    const { idToken, accessToken } = issued
    if (idToken === null) throw new Error('the token endpoint responded without an ID token')
    const claims = await tokens.verifyIdToken(idToken, { x, nonce: facts.nonce, accessToken })
    const all = { ...(await this.#userInfo(issued, claims.all['sub'])), ...claims.all }
    if (!namesConsumer(all, this.#config))
      throw new LoginFailed("the claims have no 'consumerClaim'", 'the provider did not identify the user')
    const now = Date.now()
    return {
      ...{ id: randomBytes(16).toString('base64url'), generation: 0, startedAt: now, seenAt: now },
      claims: all,
      // If the response names no scopes, the requested ones apply (RFC 6749, section 5.1).
      ...tokensOf({ ...issued, scopes: issued.scopes ?? scopeText(this.#config) }, use, null),
    }
  }

  async #userInfo({ accessToken }: IssuedTokens, sub: unknown): Promise<object> {
    if (!this.#config.userInfo) return {}
    const info = await this.#parts.provider.userInfo(accessToken)
    // The subjects must match (OpenID Connect Core 1.0, section 5.3.2).
    if (memberOf(info, 'sub') !== sub) throw new Error('the userinfo endpoint responded for another user')
    return isJsonObject(info) ? info : {}
  }

  /** Checks the issuer of the response (RFC 9207, section 2.4). */
  async #checkIssuer(x: Exchange): Promise<void> {
    const { provider } = this.#parts
    const iss = parameterIn(x, 'iss')
    const metadata = await provider.metadata()
    if (iss === null ? metadata.sendsIssuer : !provider.isNamed(iss, metadata))
      throw new LoginFailed('the response names another issuer', 'the response came from another provider')
  }

  #failure(x: Exchange, error: unknown, ended: readonly string[]): Reply {
    const noStore = ['cache-control', 'no-store', ...ended]
    x.record.reason = reasonOf(error)
    if (error instanceof UnknownLogin) {
      const detail = 'this login started in another browser or has expired: open the page again'
      return this.#env.refusal('GW_LOGIN_FAILED', detail, noStore)
    }
    if (error instanceof LoginFailed) return this.#env.refusal('GW_LOGIN_FAILED', error.detail, noStore)
    if (error instanceof GrantRefused) {
      const detail = 'the provider refused the code of this login: open the page again'
      return this.#env.refusal('GW_LOGIN_FAILED', detail, noStore)
    }
    // This includes an invalid ID token. The provider sent it directly (OpenID Connect Core 1.0, section
    // 3.1.3.7), so the browser cannot fix it and the operator has to know.
    this.#env.report('oidc_login_failed', { issuer: this.#config.issuer, reason: x.record.reason })
    return loginUnavailable(this.#env, noStore)
  }
}

/** True if the claims identify a consumer. */
export function namesConsumer(
  claims: JsonObject,
  { consumerClaim }: Pick<OidcConfig, 'consumerClaim'>,
): boolean {
  return idOf(claimAt(claims, consumerClaim)) !== null
}

/** Returns the `scope` parameter (RFC 6749, section 3.3). */
function scopeText({ scopes }: OidcConfig): string {
  return [...new Set(['openid', ...scopes])].join(' ')
}

/** Returns a query parameter, or null if it is missing or repeated. */
function parameterIn({ query }: Exchange, name: string): string | null {
  const values = new URLSearchParams(query).getAll(name)
  return values.length === 1 ? values[0]! : null
}

function randomText(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the PKCE code challenge (RFC 7636, section 4.2). */
function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}
