import { type CompileEnv, definePolicy, type Eventual, type Exchange, parseDuration } from '@sluice/core'
import { type Tenants, tenantsOf, tenantWarnings } from '../../identity/issuer/tenants.js'
import { CookieSeal } from '../../identity/session/cookie-seal.js'
import { endedSessions } from '../../identity/session/ended-sessions.js'
import type { OpenSession, Session } from '../../identity/session/session.js'
import { SessionGate } from '../../identity/session/session-gate.js'
import { type Site, siteOf } from '../../identity/session/site.js'
import { claimTexts } from '../../identity/token/claim.js'
import { consumerIn } from '../../identity/token/consumer-claims.js'
import { ForwardedClaims } from '../../identity/token/forwarded-claims.js'
import { ProviderTokens } from '../../identity/token/provider-tokens.js'
import { reasonOf } from '../../shared/call/call-options.js'
import { digestOf } from '../../shared/call/call-sharing.js'
import { readCookies } from '../../shared/field-location/cookie.js'
import { memberOf } from '../../shared/json/strict-json.js'
import { fieldName } from '../../shared/message/field-name.js'
import { SpoofedFields } from '../../shared/message/spoofed-fields.js'
import { Login, namesConsumer } from './login.js'
import { compileLogout, type Logout } from './logout.js'
import { Provider } from './provider.js'
import { Refresher, SessionEnded } from './refresher.js'
import { type OidcConfig, oidcSchema } from './schema.js'

/** The `oidc` policy. Logs users in with OpenID Connect, and identifies the consumer. */
export const oidc = definePolicy({
  name: 'oidc',
  summary:
    'Logs users in at an OpenID provider, keeps their sessions in encrypted cookies, and identifies the consumer.',
  schema: oidcSchema,
  cost: 'io',
  secretNames: () => ['code', 'state', 'cookie', 'set-cookie'],
  authenticates: () => 'request',
  warnings: ({ issuer, tenants, consumerClaim }) => tenantWarnings(issuer, tenants, consumerClaim),
  answersPaths: ({ redirectUri, logout }) => [
    ...(URL.canParse(redirectUri) ? [new URL(redirectUri).pathname] : []),
    ...(logout?.path.startsWith('/') ? [logout.path] : []),
  ],
  compile(config, env) {
    const gate = new Gate(config, env)
    return { name: 'oidc', onRequest: (x) => gate.admit(x), onResponse: (x) => gate.sessions.onResponse(x) }
  },
})

class Gate {
  readonly sessions: SessionGate
  readonly #config: OidcConfig
  readonly #env: CompileEnv
  readonly #site: Site
  readonly #login: Login
  readonly #logout: Logout | null
  readonly #refresher: Refresher
  readonly #forwarded: ForwardedClaims
  readonly #tokenHeaders: TokenHeaders
  readonly #tokenFields: SpoofedFields
  readonly #staleMs: number
  readonly #tenants: Tenants | null

  /** @throws Error for problems that the schema cannot find. */
  constructor(config: OidcConfig, env: CompileEnv) {
    const { session, issuer, tenants, clientId, logout } = config
    this.#config = config
    this.#env = env
    this.#site = siteOf(config.redirectUri, 'redirectUri')
    this.#staleMs = parseDuration(config.staleIfError)
    this.#forwarded = new ForwardedClaims(config.forwardClaims, 'cookie')
    this.#tokenHeaders = tokenHeadersOf(config, this.#forwarded)
    const { access, id } = this.#tokenHeaders
    this.#tokenFields = new SpoofedFields([access, id].filter((name) => name !== null))
    this.#tenants = tenantsOf(tenants)
    const kind = tenants === undefined ? [] : ['tenants']
    const space = `oidc ${digestOf(issuer, clientId, session.cookie, ...kind)}`
    const sealed = new CookieSeal(session.secrets, space)
    const use = {
      keepsIdToken: id !== null || logout?.provider === true,
      keepsAccessToken: access !== null,
      refreshBeforeMs: parseDuration(config.refreshBefore),
    }
    const provider = new Provider(config, env)
    const tokens = new ProviderTokens(config, env)
    this.#login = new Login(config, { site: this.#site, provider, tokens, sealed, use }, env)
    this.#logout = compileLogout(config, this.#site, provider)
    const source = {
      ...{ site: this.#site, sealed, ended: endedSessions(issuer, clientId, env) },
      prepare: (one: Session) => this.#prepare(one),
      isLoginCookie: (name: string) => this.#login.isCookie(name),
      begin: this.#login.begin.bind(this.#login),
      renewal: {
        isDue: ({ refreshToken, refreshAt }: Session, now: number) =>
          refreshToken !== null && refreshAt !== null && now >= refreshAt,
        renew: (open: OpenSession, x: Exchange) => this.#refresh(open, x),
      },
    }
    this.sessions = new SessionGate(config, source, env)
    this.#refresher = new Refresher(
      { provider, tokens, codec: this.sessions.codec, use, timeoutMs: parseDuration(config.timeout) },
      digestOf(space, session.secrets[0]),
      env,
    )
  }

  admit(x: Exchange): Eventual {
    this.#forwarded.clear(x.headers)
    this.#tokenFields.removeFrom(x.headers)
    const cookies = readCookies(x.headers)
    if (x.path === this.#site.callbackPath)
      return this.#login.finish(x, cookies, (session) => this.sessions.write(session, cookies))
    if (x.path === this.#logout?.path) return this.sessions.logOut(x, cookies, this.#logout.leave)
    return this.sessions.admit(x, cookies)
  }

  /** Refreshes a session. Rejects if the provider has been unavailable for too long. */
  async #refresh(open: OpenSession, x: Exchange): Promise<OpenSession | null> {
    try {
      return await this.#refresher.refresh(open, x)
    } catch (error) {
      x.record.reason = reasonOf(error)
      if (error instanceof SessionEnded) return null
      this.#env.report('oidc_refresh_failed', { issuer: this.#config.issuer, reason: x.record.reason })
      if (Date.now() >= open.session.accessUntil! + this.#staleMs) throw error
      return open
    }
  }

  /**
   * Returns the session, or null if its claims do not identify a consumer under the current configuration.
   */
  #prepare(session: Session): OpenSession | null {
    if (!namesConsumer(session.claims, this.#config)) return null
    // Another use of this policy may share the session but accept other tenants.
    if (this.#tenants?.has(memberOf(session.claims, 'tid')) === false) return null
    const texts = claimTexts(session.claims)
    const { access, id } = this.#tokenHeaders
    const all = session.scopes === null ? session.claims : { scope: session.scopes, ...session.claims }
    const lines = [...this.#forwarded.linesOf(session.claims)]
    if (access !== null && session.accessToken !== null)
      lines.push(access, access === 'authorization' ? `Bearer ${session.accessToken}` : session.accessToken)
    if (id !== null && session.idToken !== null) lines.push(id, session.idToken)
    return {
      ...{ session, consumer: consumerIn(all, { ...this.#config, auth: 'oidc', texts }), claims: texts },
      ...{ lines, checkedMono: Number.NEGATIVE_INFINITY, isEnded: false, successor: null },
    }
  }
}

/** Names of the headers that pass tokens to the upstream, or null. */
interface TokenHeaders {
  readonly access: string | null
  readonly id: string | null
}

/** @throws Error for a header that cannot be set or is already used. */
function tokenHeadersOf(config: OidcConfig, forwarded: ForwardedClaims): TokenHeaders {
  const headerOf = (written: string | undefined): string | null =>
    written === undefined ? null : fieldName('request', written)
  const [access, id] = [headerOf(config.accessTokenHeader), headerOf(config.idTokenHeader)]
  const taken = [access, id].find((name) => name !== null && (name === 'cookie' || forwarded.has(name)))
  if (taken !== undefined) throw new Error(`'${taken}' is already used: choose another header for the token`)
  if (access !== null && access === id) throw new Error(`'${access}' cannot carry both tokens`)
  return { access, id }
}
