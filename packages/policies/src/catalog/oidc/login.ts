import { createHash, randomBytes } from 'node:crypto'
import type { CompileEnv, Exchange, Reply } from '@sluice/core'
import { isJsonObject, type JsonObject, memberOf } from '../../engines/json/strict-json.js'
import type { Cookies } from '../../shared/field-location/cookie.js'
import type { CookieSeal } from '../../shared/session/cookie-seal.js'
import {
  type LoginStart,
  mayRestart,
  type OpenLogin,
  OpenLogins,
  pageOf,
  UnknownLogin,
} from '../../shared/session/open-logins.js'
import { loginUnavailable, reasonOf, redirect } from '../../shared/session/redirect.js'
import type { Session } from '../../shared/session/session.js'
import { cookieOf } from '../../shared/session/session-gate.js'
import { isNavigation, type Site } from '../../shared/session/site.js'
import { claimAt } from '../jwt/claim.js'
import { idOf } from '../jwt/claim-rules.js'
import { DEFAULT_CONSUMER_CLAIM } from '../jwt/schema.js'
import { GrantRefused, type IssuedTokens, type Provider } from './provider.js'
import type { ProviderTokens } from './provider-tokens.js'
import { DEFAULT_SCOPES, type OidcConfig } from './schema.js'
import { type TokenUse, tokensOf } from './token-use.js'

/** What is to be known of a login when the browser comes back. */
interface LoginFacts {
  readonly nonce: string
  /** RFC 7636, section 4.1. */
  readonly verifier: string
}

/** What the gateway writes into the address of a login itself. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state', 'nonce'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri'],
])

export interface LoginParts {
  readonly site: Site
  readonly provider: Provider
  readonly tokens: ProviderTokens
  readonly sealed: CookieSeal
  readonly use: TokenUse
}

/** A login that cannot be finished; the message is for the operator, `detail` for the user. */
class LoginFailed extends Error {
  readonly detail: string

  constructor(reason: string, detail: string) {
    super(reason)
    this.detail = detail
  }
}

/** Sends browsers to the provider, and makes sessions of what they come back with. */
export class Login {
  readonly #config: OidcConfig
  readonly #parts: LoginParts
  readonly #env: CompileEnv
  readonly #logins: OpenLogins<LoginFacts>

  /** @throws Error for a parameter that has a key of its own. */
  constructor(config: OidcConfig, parts: LoginParts, env: CompileEnv) {
    const own = Object.keys(config.parameters ?? {}).find((name) => OWN_PARAMETERS.has(name))
    if (own !== undefined) throw new Error(`'parameters' cannot hold '${own}'; the gateway writes it itself`)
    this.#config = config
    this.#parts = parts
    this.#env = env
    const { sealed, site } = parts
    this.#logins = new OpenLogins({ cookie: cookieOf(config.session), sealed, isSecure: site.isSecure })
  }

  /** Whether a cookie is one of a login that is open. */
  isCookie(name: string): boolean {
    return this.#logins.isCookie(name)
  }

  /**
   * The way to the provider. Rejects with any Error where its metadata cannot be had.
   * @param ended the fields that end a session.
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
   * The browser has come back (RFC 6749, section 4.1.2).
   * @param write the Set-Cookie fields of a session; null: it is too long for cookies.
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
      // The oldest of many tabs, a response that comes twice, a user who took too long: the browser logs in anew.
      const isLost = error instanceof UnknownLogin || error instanceof GrantRefused
      // Other sites can have a browser ask for pictures, and would fill it with cookies of logins.
      if (!isLost || !mayRestart(state) || !isNavigation(x)) return this.#failure(x, error, ended)
      x.record.reason = reasonOf(error)
      const begun = this.#start({ returnTo, isRestart: true }, cookies, ended)
      return begun.catch((failure: unknown) => this.#failure(x, failure, ended))
    }
  }

  async #sessionOf(x: Exchange, { facts }: OpenLogin<LoginFacts>): Promise<Session> {
    const { provider, tokens, use } = this.#parts
    await this.#checkIssuer(x)
    const error = parameterIn(x, 'error')
    if (error !== null) {
      const code = /^[a-z_]{1,64}$/.test(error) ? error : 'unknown'
      throw new LoginFailed(`the provider answered ${code}`, `the provider has refused the login (${code})`)
    }
    const code = parameterIn(x, 'code')
    if (code === null) throw new LoginFailed('no code', 'the provider has sent no code')
    const issued = await provider.exchangeCode(code, facts.verifier)
    const { idToken, accessToken } = issued
    if (idToken === null) throw new Error('the token endpoint answered without an ID token')
    const claims = await tokens.verifyIdToken(idToken, { x, nonce: facts.nonce, accessToken })
    const all = { ...(await this.#userInfo(issued, claims.all['sub'])), ...claims.all }
    if (!namesConsumer(all, this.#config))
      throw new LoginFailed(
        "the claims have no 'consumerClaim'",
        'the provider does not say who has logged in',
      )
    const now = Date.now()
    return {
      ...{ id: randomBytes(16).toString('base64url'), generation: 0, startedAt: now, seenAt: now },
      claims: all,
      // RFC 6749, section 5.1: those that were asked for, where it does not say others.
      ...tokensOf({ ...issued, scopes: issued.scopes ?? scopeText(this.#config) }, use, null),
    }
  }

  async #userInfo({ accessToken }: IssuedTokens, sub: unknown): Promise<object> {
    if (this.#config.userInfo !== true) return {}
    const info = await this.#parts.provider.userInfo(accessToken)
    // OpenID Connect Core 1.0, section 5.3.2.
    if (memberOf(info, 'sub') !== sub) throw new Error('the userinfo endpoint answered for another user')
    return isJsonObject(info) ? info : {}
  }

  /** RFC 9207, section 2.4. */
  async #checkIssuer(x: Exchange): Promise<void> {
    const { provider } = this.#parts
    const iss = parameterIn(x, 'iss')
    const metadata = await provider.metadata()
    if (iss === null ? metadata.sendsIssuer : !provider.isNamed(iss, metadata))
      throw new LoginFailed('the response is of another issuer', 'the response is of another provider')
  }

  #failure(x: Exchange, error: unknown, ended: readonly string[]): Reply {
    const noStore = ['cache-control', 'no-store', ...ended]
    x.record.reason = reasonOf(error)
    if (error instanceof UnknownLogin) {
      const detail = 'this login was begun in another browser, or is too old; open the page again'
      return this.#env.refusal('GW_LOGIN_FAILED', detail, noStore)
    }
    if (error instanceof LoginFailed) return this.#env.refusal('GW_LOGIN_FAILED', error.detail, noStore)
    if (error instanceof GrantRefused) {
      const detail = 'the provider has refused the code of this login; open the page again'
      return this.#env.refusal('GW_LOGIN_FAILED', detail, noStore)
    }
    // An ID token that is not valid, too: it came from the provider itself (OpenID Connect Core 1.0, section 3.1.3.7, which
    // names no status), so the browser cannot mend it, and whoever watches the gateway has to see it.
    this.#env.report('oidc_login_failed', { issuer: this.#config.issuer, reason: x.record.reason })
    return loginUnavailable(this.#env, noStore)
  }
}

/** Whether claims say who it is. */
export function namesConsumer(
  claims: JsonObject,
  { consumerClaim = DEFAULT_CONSUMER_CLAIM }: Pick<OidcConfig, 'consumerClaim'>,
): boolean {
  return idOf(claimAt(claims, consumerClaim)) !== null
}

/** What is asked for, as it is written (RFC 6749, section 3.3). */
function scopeText({ scopes }: OidcConfig): string {
  return [...new Set(['openid', ...(scopes ?? DEFAULT_SCOPES)])].join(' ')
}

/** Null: it is absent, or stands more than once. */
function parameterIn({ query }: Exchange, name: string): string | null {
  const values = new URLSearchParams(query).getAll(name)
  return values.length === 1 ? values[0]! : null
}

function randomText(): string {
  return randomBytes(32).toString('base64url')
}

/** RFC 7636, section 4.2. */
function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}
