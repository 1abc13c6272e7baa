import {
  appendHeader,
  type CompileEnv,
  type Eventual,
  type Exchange,
  type Outcome,
  parseDuration,
  type Reply,
  type Slot,
  setHeader,
} from '@sluice/core'
import { durationWithin, reasonOf } from '../../shared/call/call-options.js'
import { type Cookies, removeCookies } from '../../shared/field-location/cookie.js'
import { CookieJar } from './cookie-jar.js'
import type { CookieSeal } from './cookie-seal.js'
import type { EndedSessions } from './ended-sessions.js'
import { loginUnavailable } from './redirect.js'
import { type OpenSession, type Session, SessionCodec } from './session.js'
import type { SessionConfig } from './session-options.js'
import { isNavigation, isOfSite, type Site } from './site.js'

const MAX_LIFETIME_MS = 30 * 86_400_000
/** Maximum delay in milliseconds until a session that ended early is refused everywhere. */
const CHECK_EVERY_MS = 5000
/** Divisor of `idleTimeout`: the interval at which the cookie is updated with the time of the last request. */
const NOTED_IN = 10

/** Configuration of a policy that logs users in. */
export interface SessionGateConfig {
  readonly session: SessionConfig
  readonly unauthenticated?: 'auto' | 'redirect' | '401' | 'pass'
  readonly onStoreDown?: 'open' | 'closed'
}

/** Functions of a login policy that concern its sessions. */
export interface SessionSource {
  readonly site: Site
  readonly sealed: CookieSeal
  readonly ended: EndedSessions
  /** Derives from a session what requests need, or returns null for an unusable session. */
  prepare(session: Session): OpenSession | null
  isLoginCookie(name: string): boolean
  /** Returns the redirect to the login page. Rejects with any Error. @param ended headers that end a session. */
  begin(x: Exchange, cookies: Cookies, ended: readonly string[]): Promise<Reply>
  /** Renewal of sessions, if the policy has any. */
  readonly renewal?: {
    isDue(session: Session, now: number): boolean
    /** Renews a session, or returns null if it has ended. Rejects with any Error if the request must be refused. */
    renew(open: OpenSession, x: Exchange): Promise<OpenSession | null>
  }
}

/** Admits requests by their sessions. A session that was opened before costs a hash and a map lookup. */
export class SessionGate {
  readonly codec: SessionCodec
  readonly lifetimeMs: number
  readonly #config: SessionGateConfig
  readonly #source: SessionSource
  readonly #env: CompileEnv
  readonly #jar: CookieJar
  readonly #idleMs: number
  /** Set-Cookie headers of the response. */
  readonly #cookies: Slot<readonly string[]>

  /** Creates the gate. @throws Error for an invalid or too long duration. */
  constructor(config: SessionGateConfig, source: SessionSource, env: CompileEnv) {
    const { lifetime, idleTimeout, cookie } = config.session
    this.#config = config
    this.#source = source
    this.#env = env
    this.#jar = new CookieJar({ name: cookie, isSecure: source.site.isSecure })
    this.codec = new SessionCodec(source.sealed, source.prepare)
    this.lifetimeMs = durationWithin(MAX_LIFETIME_MS, lifetime, 'session.lifetime')
    this.#idleMs = parseDuration(idleTimeout)
    this.#cookies = env.slot()
  }

  admit(x: Exchange, cookies: Cookies): Eventual {
    const opened = this.#open(cookies)
    const open = latestOf(opened)
    if (cookies.size > 0)
      removeCookies(x.headers, (name) => this.#jar.has(name) || this.#source.isLoginCookie(name))
    const now = Date.now()
    if (open === null || open.isEnded || this.#isOver(open.session, now)) return this.#refuse(x, cookies)
    // The response with the new cookie may have been lost.
    if (open !== opened) this.#keep(x, open.session, cookies)
    const isDue = this.#source.renewal?.isDue(open.session, now) === true
    if (isDue || performance.now() - open.checkedMono >= CHECK_EVERY_MS) return this.#renew(x, cookies, open)
    return this.#accept(x, cookies, open)
  }

  #open(cookies: Cookies): OpenSession | null {
    const text = this.#jar.read(cookies)
    return text === '' ? null : this.codec.open(text)
  }

  /** Stores a session in the browser. A session that is too long stays usable until its next renewal. */
  #keep(x: Exchange, session: Session, before: Cookies): void {
    const fields = this.write(session, before)
    if (fields === null) this.#env.report('session_too_long', {})
    this.#cookies.set(x, fields ?? [])
  }

  /** Returns the headers that store a session, or null if it is too long for cookies. */
  write(session: Session, before: Cookies): string[] | null {
    const leftMs = session.startedAt + this.lifetimeMs - Date.now()
    return this.#jar.write(this.codec.seal(session), Math.max(0, Math.floor(leftMs / 1000)), before)
  }

  /**
   * Ends a session if a page of the site requests it. GET requests must be navigations, not images or prefetches.
   * @param leave returns the response, given the headers that expire the cookies.
   */
  async logOut(
    x: Exchange,
    cookies: Cookies,
    leave: (open: OpenSession | null, ended: readonly string[]) => Promise<Reply>,
  ): Promise<Reply> {
    const isAsked = x.method === 'POST' || (x.method === 'GET' && isNavigation(x))
    if (!isAsked || !isOfSite(x, this.#source.site))
      return this.#env.refusal('GW_ACCESS_DENIED', 'logout requests must come from a page of this site')
    const open = latestOf(this.#open(cookies))
    if (open !== null) {
      open.isEnded = true
      await this.#source.ended
        .end('own', open.session.id, this.lifetimeMs)
        .catch((error: unknown) => this.#reportStore(error))
    }
    return leave(open, this.#jar.clear(cookies))
  }

  onResponse(x: Exchange): null {
    const fields = this.#cookies.get(x)
    if (fields === undefined) return null
    for (let i = 0; i < fields.length; i += 2) appendHeader(x.responseHeaders, fields[i]!, fields[i + 1]!)
    // A cache would give the session to other users.
    if (fields.length > 0) setHeader(x.responseHeaders, 'cache-control', 'no-store')
    return null
  }

  #isOver({ startedAt, seenAt, until }: Session, now: number): boolean {
    if (now - startedAt >= this.lifetimeMs || (until !== null && now >= until)) return true
    return this.#idleMs > 0 && now - seenAt >= this.#idleMs
  }

  /** Checks if the session ended early, and renews it if it is due. */
  async #renew(x: Exchange, cookies: Cookies, open: OpenSession): Promise<Outcome> {
    if (!(await this.#checkEnded(open))) return loginUnavailable(this.#env)
    if (open.isEnded) return this.#refuse(x, cookies)
    const { renewal } = this.#source
    if (renewal === undefined || !renewal.isDue(open.session, Date.now()))
      return this.#accept(x, cookies, open)
    try {
      const next = await renewal.renew(open, x)
      if (next === null) {
        open.isEnded = true
        return this.#refuse(x, cookies)
      }
      if (next !== open) this.#keep(x, next.session, cookies)
      return this.#accept(x, cookies, next)
    } catch (error) {
      x.record.reason = reasonOf(error)
      return loginUnavailable(this.#env)
    }
  }

  /** Returns false if the session cannot be checked and must be refused. */
  async #checkEnded(open: OpenSession): Promise<boolean> {
    if (performance.now() - open.checkedMono < CHECK_EVERY_MS) return true
    try {
      open.isEnded = await this.#source.ended.isEnded(open.session)
    } catch (error) {
      this.#reportStore(error)
      if (this.#config.onStoreDown === 'closed') return false
    }
    open.checkedMono = performance.now()
    return true
  }

  #reportStore(error: unknown): void {
    this.#env.report('session_store_down', { error: reasonOf(error) })
  }

  #accept(x: Exchange, cookies: Cookies, { session, consumer, claims, lines }: OpenSession): null {
    x.identify(consumer)
    x.claims = claims
    for (let i = 0; i < lines.length; i++) x.headers.push(lines[i]!)
    const now = Date.now()
    const isNoted = this.#idleMs === 0 || now - session.seenAt < this.#idleMs / NOTED_IN
    if (!isNoted && this.#cookies.get(x) === undefined) this.#keep(x, { ...session, seenAt: now }, cookies)
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
      return this.#source.begin(x, cookies, ended).catch((error: unknown) => {
        x.record.reason = reasonOf(error)
        return loginUnavailable(this.#env)
      })
    return this.#env.refusal('GW_AUTH_MISSING', 'log in with a browser first', [
      ...['www-authenticate', 'Session', 'cache-control', 'no-store'],
      ...ended,
    ])
  }
}

/** Returns the latest renewal of a session, for browsers that still send the old cookie. */
function latestOf(open: OpenSession | null): OpenSession | null {
  let latest = open
  while (latest !== null && latest.successor !== null) latest = latest.successor
  return latest
}
