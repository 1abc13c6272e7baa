import { createHash, randomBytes } from 'node:crypto'
import type { CompileEnv, Exchange, Reply } from '@sluice/core'
import { isJsonObject, type JsonObject, memberOf } from '../../engines/json/strict-json.js'
import { CookieJar, type Cookies } from '../../shared/session/cookie-jar.js'
import { loginUnavailable, reasonOf, redirect } from '../../shared/session/redirect.js'
import type { SealedText } from '../../shared/session/sealed-text.js'
import type { Session } from '../../shared/session/session.js'
import { cookieOf } from '../../shared/session/session-gate.js'
import type { Site } from '../../shared/session/site.js'
import { claimAt } from '../jwt/claim.js'
import { idOf } from '../jwt/claim-rules.js'
import { DEFAULT_CONSUMER_CLAIM } from '../jwt/schema.js'
import { GrantRefused, type IssuedTokens, type Provider } from './provider.js'
import type { ProviderTokens } from './provider-tokens.js'
import { DEFAULT_SCOPES, type OidcConfig } from './schema.js'
import { type TokenUse, tokensOf } from './token-use.js'

/** What a browser that logs in keeps until it comes back. */
interface OpenLogin {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** Path and query, on the site. */
  readonly returnTo: string
  /** Ms since 1970. */
  readonly until: number
}

const PURPOSE = 'login'
/** How long a user may take to log in. */
const LOGIN_SECONDS = 600
/** Logins that one browser has open at a time; with the next one all others are forgotten. */
const MAX_LOGINS = 5
const MAX_RETURN_LENGTH = 1024
const STATE = /^[A-Za-z0-9_-]{43}$/
/** Of a state, in the name of its cookie. */
const STATE_NAME_LENGTH = 10
/** What the gateway writes into the address of a login itself. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state', 'nonce'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri'],
])

export interface LoginParts {
  readonly site: Site
  readonly provider: Provider
  readonly tokens: ProviderTokens
  readonly sealed: SealedText
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
  readonly #cookiePrefix: string

  /** @throws Error for a parameter that has a key of its own. */
  constructor(config: OidcConfig, parts: LoginParts, env: CompileEnv) {
    const own = Object.keys(config.parameters ?? {}).find((name) => OWN_PARAMETERS.has(name))
    if (own !== undefined) throw new Error(`'parameters' cannot hold '${own}'; the gateway writes it itself`)
    this.#config = config
    this.#parts = parts
    this.#env = env
    this.#cookiePrefix = `${cookieOf(config.session)}-login-`
  }

  /** Whether a cookie is one of a login that is open. */
  isCookie(name: string): boolean {
    return name.replace(/^__Host-/, '').startsWith(this.#cookiePrefix)
  }

  /**
   * The way to the provider. Rejects with any Error where its metadata cannot be had.
   * @param ended the fields that end a session.
   */
  async begin(x: Exchange, cookies: Cookies, ended: readonly string[]): Promise<Reply> {
    const { authorizationEndpoint } = await this.#parts.provider.metadata()
    const returnTo = x.query === '' ? x.rawPath : `${x.rawPath}?${x.query}`
    const login: OpenLogin = {
      ...{ state: randomText(), nonce: randomText(), verifier: randomText() },
      returnTo: returnTo.length <= MAX_RETURN_LENGTH ? returnTo : '/',
      until: Date.now() + LOGIN_SECONDS * 1000,
    }
    const sealed = this.#parts.sealed.seal(JSON.stringify(login), PURPOSE)
    const set = this.#jarOf(login.state).write(sealed, LOGIN_SECONDS, cookies)!
    return redirect(this.#addressOf(authorizationEndpoint, login), [
      ...ended,
      ...this.#forgotten(cookies),
      ...set,
    ])
  }

  #addressOf(endpoint: string, { state, nonce, verifier }: OpenLogin): string {
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

  #forgotten(cookies: Cookies): string[] {
    const names = [...cookies.keys()].filter((name) => this.isCookie(name))
    if (names.length < MAX_LOGINS) return []
    const { isSecure } = this.#parts.site
    return names.flatMap((name) =>
      new CookieJar({ name: name.replace(/^__Host-/, ''), isSecure }).clear(cookies),
    )
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
    try {
      const login = this.#openLogin(x, cookies, ended)
      const session = await this.#sessionOf(x, login)
      const set = write(session)
      if (set === null)
        throw new LoginFailed('the tokens are too long for cookies', 'the session is too large')
      return redirect(`${this.#parts.site.origin}${login.returnTo}`, [...ended, ...set])
    } catch (error) {
      return this.#failure(x, error, ended)
    }
  }

  /** The login that the response belongs to. @param ended gets the fields that end its cookie. @throws LoginFailed */
  #openLogin(x: Exchange, cookies: Cookies, ended: string[]): OpenLogin {
    const state = parameterIn(x, 'state')
    if (x.method !== 'GET' || state === null || !STATE.test(state)) throw unknownLogin('no state')
    const jar = this.#jarOf(state)
    const text = this.#parts.sealed.open(jar.read(cookies), PURPOSE)
    ended.push(...jar.clear(cookies))
    const login = text === null ? null : (JSON.parse(text) as OpenLogin)
    if (login === null || login.state !== state) throw unknownLogin('no cookie of this login')
    if (Date.now() >= login.until) throw unknownLogin('the login is too old')
    return login
  }

  async #sessionOf(x: Exchange, login: OpenLogin): Promise<Session> {
    const { provider, tokens, use } = this.#parts
    await this.#checkIssuer(x)
    const error = parameterIn(x, 'error')
    if (error !== null) {
      const code = /^[a-z_]{1,64}$/.test(error) ? error : 'unknown'
      throw new LoginFailed(`the provider answered ${code}`, `the provider has refused the login (${code})`)
    }
    const code = parameterIn(x, 'code')
    if (code === null) throw new LoginFailed('no code', 'the provider has sent no code')
    const issued = await provider.exchangeCode(code, login.verifier)
    const { idToken, accessToken } = issued
    if (idToken === null) throw new Error('the token endpoint answered without an ID token')
    const claims = await tokens.verifyIdToken(idToken, { x, nonce: login.nonce, accessToken })
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
    const { sendsIssuer } = await provider.metadata()
    if (iss === null ? sendsIssuer : iss !== provider.issuer)
      throw new LoginFailed('the response is of another issuer', 'the response is of another provider')
  }

  #failure(x: Exchange, error: unknown, ended: readonly string[]): Reply {
    const noStore = ['cache-control', 'no-store', ...ended]
    x.record.reason = reasonOf(error)
    if (error instanceof LoginFailed) return this.#env.refusal('GW_LOGIN_FAILED', error.detail, noStore)
    if (error instanceof GrantRefused) {
      const detail = 'the provider has refused the code of this login; open the page again'
      return this.#env.refusal('GW_LOGIN_FAILED', detail, noStore)
    }
    this.#env.report('oidc_login_failed', { issuer: this.#config.issuer, reason: x.record.reason })
    return loginUnavailable(this.#env, noStore)
  }

  #jarOf(state: string): CookieJar {
    const { isSecure } = this.#parts.site
    return new CookieJar({ name: this.#cookiePrefix + state.slice(0, STATE_NAME_LENGTH), isSecure })
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

function unknownLogin(reason: string): LoginFailed {
  return new LoginFailed(
    reason,
    'this login was begun in another browser, or is too old; open the page again',
  )
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
