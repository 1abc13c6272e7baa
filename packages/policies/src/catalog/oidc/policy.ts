import {
  appendHeader,
  type CompileEnv,
  definePolicy,
  type Eventual,
  type Exchange,
  type Outcome,
  parseDuration,
  type Reply,
  type Slot,
  setHeader,
} from '@sluice/core'
import { callBounds, durationWithin } from '../../shared/call-bounds.js'
import { digestOf } from '../../shared/call-sharing.js'
import { fieldName } from '../../shared/field-name.js'
import { CookieJar, type Cookies, readCookies, removeCookies } from '../../shared/session/cookie-jar.js'
import { SealedText } from '../../shared/session/sealed-text.js'
import { DEFAULT_COOKIE, DEFAULT_IDLE, DEFAULT_LIFETIME } from '../../shared/session/session-options.js'
import { SpoofedFields } from '../../shared/spoofed-fields.js'
import { claimTexts } from '../jwt/claim.js'
import { consumerIn } from '../jwt/consumer-claims.js'
import { ForwardedClaims } from '../jwt/forwarded-claims.js'
import { type EndedSessions, endedSessions } from './ended-sessions.js'
import { Login, namesConsumer, reasonOf, unavailable } from './login.js'
import { Logout } from './logout.js'
import { Provider } from './provider.js'
import { ProviderTokens } from './provider-tokens.js'
import { Refresher, SessionEnded } from './refresher.js'
import {
  DEFAULT_REFRESH_BEFORE,
  DEFAULT_STALE,
  DEFAULT_TIMEOUT,
  type OidcConfig,
  oidcSchema,
} from './schema.js'
import { type OpenSession, type Session, SessionCodec } from './session.js'
import { isNavigation, type Site, siteOf } from './site.js'

const MAX_LIFETIME_MS = 30 * 86_400_000
/** How soon a session that was ended before its time is over everywhere. */
const CHECK_EVERY_MS = 5000
/** The time of the last request is noted in the cookie once in this part of `idleTimeout`. */
const NOTED_IN = 10

/** Logs users in with OpenID Connect, and names the consumer. */
export const oidc = definePolicy({
  name: 'oidc',
  summary:
    'Logs users in at an OpenID provider, keeps their sessions in encrypted cookies, and names the consumer.',
  schema: oidcSchema,
  cost: 'io',
  secretNames: () => ['code', 'state', 'cookie', 'set-cookie'],
  authenticates: () => 'request',
  answersPaths: ({ redirectUri, logout }) => [
    ...(URL.canParse(redirectUri) ? [new URL(redirectUri).pathname] : []),
    ...(logout?.path.startsWith('/') ? [logout.path] : []),
  ],
  compile(config, env) {
    const gate = new Gate(config, env)
    return { name: 'oidc', onRequest: (x) => gate.admit(x), onResponse: (x) => gate.onResponse(x) }
  },
})

/** The decision for one request; that for a session which was open before costs a hash and a look into a map. */
class Gate {
  readonly #config: OidcConfig
  readonly #env: CompileEnv
  readonly #site: Site
  readonly #jar: CookieJar
  readonly #codec: SessionCodec
  readonly #login: Login
  readonly #logout: Logout | null
  readonly #refresher: Refresher
  readonly #ended: EndedSessions
  readonly #forwarded: ForwardedClaims
  readonly #tokenHeaders: TokenHeaders
  readonly #tokenFields: SpoofedFields
  readonly #lifetimeMs: number
  readonly #idleMs: number
  readonly #staleMs: number
  /** The Set-Cookie fields of the response. */
  readonly #cookies: Slot<readonly string[]>

  /** @throws Error for what the schema cannot refuse. */
  constructor(config: OidcConfig, env: CompileEnv) {
    const { session, issuer, clientId, logout } = config
    this.#config = config
    this.#env = env
    this.#site = siteOf(config.redirectUri)
    this.#lifetimeMs = durationWithin(
      MAX_LIFETIME_MS,
      session.lifetime ?? DEFAULT_LIFETIME,
      'session.lifetime',
    )
    this.#idleMs = parseDuration(session.idleTimeout ?? DEFAULT_IDLE)
    this.#staleMs = parseDuration(config.staleIfError ?? DEFAULT_STALE)
    this.#forwarded = new ForwardedClaims(config.forwardClaims ?? {}, 'cookie')
    this.#tokenHeaders = tokenHeadersOf(config, this.#forwarded)
    const { access, id } = this.#tokenHeaders
    this.#tokenFields = new SpoofedFields([access, id].filter((name) => name !== null))
    const cookie = session.cookie ?? DEFAULT_COOKIE
    this.#jar = new CookieJar({ name: cookie, isSecure: this.#site.isSecure })
    const space = `oidc ${digestOf(issuer, clientId, cookie)}`
    const sealed = new SealedText(session.secrets, space)
    this.#codec = new SessionCodec(sealed, (one) => this.#prepare(one))
    const use = {
      keepsIdToken: id !== null || (logout !== undefined && logout.provider !== false),
      keepsAccessToken: access !== null,
      refreshBeforeMs: parseDuration(config.refreshBefore ?? DEFAULT_REFRESH_BEFORE),
    }
    const provider = new Provider(config, env)
    const tokens = new ProviderTokens(config, env)
    this.#login = new Login(config, cookie, { site: this.#site, provider, tokens, sealed, use }, env)
    this.#ended = endedSessions(config, env)
    this.#logout = logout === undefined ? null : new Logout(config, logout, { site: this.#site, provider })
    const { totalMs = 0 } = callBounds({ timeout: config.timeout ?? DEFAULT_TIMEOUT })
    this.#refresher = new Refresher(
      { provider, tokens, codec: this.#codec, use, timeoutMs: totalMs },
      digestOf(space, session.secrets[0]),
      env,
    )
    this.#cookies = env.slot()
  }

  admit(x: Exchange): Eventual {
    this.#forwarded.clear(x.headers)
    this.#tokenFields.removeFrom(x.headers)
    const cookies = readCookies(x.headers)
    if (x.path === this.#site.callbackPath)
      return this.#login.finish(x, cookies, (session) => this.#write(session, cookies))
    const text = this.#jar.read(cookies)
    const opened = text === '' ? null : this.#codec.open(text)
    const open = this.#latest(opened)
    if (x.path === this.#logout?.path) return this.#logOut(x, cookies, open)
    if (cookies.size > 0)
      removeCookies(x.headers, (name) => this.#jar.has(name) || this.#login.isCookie(name))
    const now = Date.now()
    if (open === null || open.isEnded || this.#isOver(open.session, now)) return this.#refuse(x, cookies)
    // The response that brought the new cookie may have got lost.
    if (open !== opened) this.#keep(x, open.session, cookies)
    const { session, checkedMono } = open
    const isToRefresh =
      session.refreshToken !== null && session.refreshAt !== null && now >= session.refreshAt
    if (isToRefresh || performance.now() - checkedMono >= CHECK_EVERY_MS) return this.#renew(x, cookies, open)
    return this.#accept(x, cookies, open)
  }

  /** What another request has refreshed counts, while the browser still sends the cookie before. */
  #latest(open: OpenSession | null): OpenSession | null {
    let latest = open
    while (latest !== null && latest.successor !== null) latest = latest.successor
    return latest
  }

  #isOver({ startedAt, seenAt, refreshToken, accessUntil }: Session, now: number): boolean {
    if (now - startedAt >= this.#lifetimeMs) return true
    if (this.#idleMs > 0 && now - seenAt >= this.#idleMs) return true
    // An upstream that wants the token gets none that has ended.
    const isNeeded = this.#tokenHeaders.access !== null
    return isNeeded && refreshToken === null && accessUntil !== null && now >= accessUntil
  }

  /** Asks whether the session was ended before its time, and for new tokens where it needs them. */
  async #renew(x: Exchange, cookies: Cookies, open: OpenSession): Promise<Outcome> {
    if (!(await this.#isChecked(open))) return unavailable(this.#env)
    if (open.isEnded) return this.#refuse(x, cookies)
    const { refreshToken, refreshAt, accessUntil } = open.session
    if (refreshToken === null || refreshAt === null || Date.now() < refreshAt)
      return this.#accept(x, cookies, open)
    try {
      const next = await this.#refresher.refresh(open, x)
      this.#keep(x, next.session, cookies)
      return this.#accept(x, cookies, next)
    } catch (error) {
      x.record.reason = reasonOf(error)
      if (error instanceof SessionEnded) {
        open.isEnded = true
        return this.#refuse(x, cookies)
      }
      this.#env.report('oidc_refresh_failed', { issuer: this.#config.issuer, reason: x.record.reason })
      if (Date.now() >= accessUntil! + this.#staleMs) return unavailable(this.#env)
      return this.#accept(x, cookies, open)
    }
  }

  /** False: nobody can say, and then nobody may pass. */
  async #isChecked(open: OpenSession): Promise<boolean> {
    if (performance.now() - open.checkedMono < CHECK_EVERY_MS) return true
    try {
      open.isEnded = await this.#ended.isEnded(open.session)
    } catch (error) {
      this.#env.report('oidc_store_down', { error: reasonOf(error) })
      if (this.#config.onStoreDown === 'closed') return false
    }
    open.checkedMono = performance.now()
    return true
  }

  #accept(x: Exchange, cookies: Cookies, { session, consumer, claims, lines }: OpenSession): null {
    x.identify(consumer)
    x.claims = claims
    for (let i = 0; i < lines.length; i++) x.headers.push(lines[i]!)
    const now = Date.now()
    if (
      this.#idleMs > 0 &&
      now - session.seenAt >= this.#idleMs / NOTED_IN &&
      this.#cookies.get(x) === undefined
    )
      this.#keep(x, { ...session, seenAt: now }, cookies)
    return null
  }

  #refuse(x: Exchange, cookies: Cookies): Eventual {
    const { unauthenticated = 'auto' } = this.#config
    const ended = this.#jar.clear(cookies)
    if (unauthenticated === 'pass') {
      if (ended.length > 0) this.#cookies.set(x, ended)
      return null
    }
    const isRead = x.method === 'GET' || x.method === 'HEAD'
    if (isRead && (unauthenticated === 'redirect' || (unauthenticated === 'auto' && isNavigation(x))))
      return this.#login.begin(x, cookies, ended).catch((error: unknown) => {
        x.record.reason = reasonOf(error)
        return unavailable(this.#env)
      })
    return this.#env.refusal('GW_AUTH_MISSING', 'log in with a browser first', [
      ...['www-authenticate', 'Session', 'cache-control', 'no-store'],
      ...ended,
    ])
  }

  async #logOut(x: Exchange, cookies: Cookies, open: OpenSession | null): Promise<Reply> {
    const logout = this.#logout!
    if (!logout.isAllowed(x))
      return this.#env.refusal('GW_ACCESS_DENIED', 'only pages of this site can log out')
    if (open !== null) {
      open.isEnded = true
      await this.#ended
        .end('own', open.session.id, this.#lifetimeMs)
        .catch((error: unknown) => this.#env.report('oidc_store_down', { error: reasonOf(error) }))
    }
    return logout.leave(open?.session.idToken ?? null, this.#jar.clear(cookies))
  }

  onResponse(x: Exchange): null {
    const fields = this.#cookies.get(x)
    if (fields === undefined) return null
    for (let i = 0; i < fields.length; i += 2) appendHeader(x.responseHeaders, fields[i]!, fields[i + 1]!)
    // A cache that kept it would hand the session to others.
    if (fields.length > 0) setHeader(x.responseHeaders, 'cache-control', 'no-store')
    return null
  }

  /** Has the browser keep a session. One that has become too long goes on until its tokens have to be refreshed again. */
  #keep(x: Exchange, session: Session, before: Cookies): void {
    const fields = this.#write(session, before)
    if (fields === null) this.#env.report('oidc_session_too_long', { issuer: this.#config.issuer })
    this.#cookies.set(x, fields ?? [])
  }

  #write(session: Session, before: Cookies): string[] | null {
    const leftMs = session.startedAt + this.#lifetimeMs - Date.now()
    return this.#jar.write(this.#codec.seal(session), Math.max(0, Math.floor(leftMs / 1000)), before)
  }

  /** Null: the claims name nobody, under the configuration of now. */
  #prepare(session: Session): OpenSession | null {
    if (!namesConsumer(session.claims, this.#config)) return null
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

/** The headers in which the upstream gets tokens; null: it does not. */
interface TokenHeaders {
  readonly access: string | null
  readonly id: string | null
}

/** @throws Error for a header that cannot be set, or that brings something else. */
function tokenHeadersOf(config: OidcConfig, forwarded: ForwardedClaims): TokenHeaders {
  const headerOf = (written: string | undefined): string | null =>
    written === undefined ? null : fieldName('request', written)
  const [access, id] = [headerOf(config.accessTokenHeader), headerOf(config.idTokenHeader)]
  const taken = [access, id].find((name) => name !== null && (name === 'cookie' || forwarded.has(name)))
  if (taken !== undefined)
    throw new Error(`'${taken}' brings something else; use another header for the token`)
  if (access !== null && access === id) throw new Error(`'${access}' cannot bring both tokens`)
  return { access, id }
}
