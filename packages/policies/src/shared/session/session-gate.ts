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
import { durationWithin } from '../call-bounds.js'
import { type Cookies, removeCookies } from '../field-location/cookie.js'
import { CookieJar } from './cookie-jar.js'
import type { CookieSeal } from './cookie-seal.js'
import type { EndedSessions } from './ended-sessions.js'
import { loginUnavailable, reasonOf } from './redirect.js'
import { type OpenSession, type Session, SessionCodec } from './session.js'
import { DEFAULT_COOKIE, DEFAULT_IDLE, DEFAULT_LIFETIME, type SessionConfig } from './session-options.js'
import { isNavigation, isOfSite, type Site } from './site.js'

const MAX_LIFETIME_MS = 30 * 86_400_000
/** How soon a session that was ended before its time is over everywhere. */
const CHECK_EVERY_MS = 5000
/** The time of the last request is noted in the cookie once in this part of `idleTimeout`. */
const NOTED_IN = 10

/** What a policy that logs users in is configured with. */
export interface SessionGateConfig {
  readonly session: SessionConfig
  readonly unauthenticated?: 'auto' | 'redirect' | '401' | 'pass'
  readonly onStoreDown?: 'open' | 'closed'
}

/** What sessions are of the policy that makes them. */
export interface SessionSource {
  readonly site: Site
  readonly sealed: CookieSeal
  readonly ended: EndedSessions
  /** Makes of a session what requests need; null: it is of no use. */
  prepare(session: Session): OpenSession | null
  /** Whether a cookie is one of a login that is open. */
  isLoginCookie(name: string): boolean
  /** The way to where users log in. Rejects with any Error. @param ended fields that end a session. */
  begin(x: Exchange, cookies: Cookies, ended: readonly string[]): Promise<Reply>
  /** What became of a session that has to be renewed before it is used; absent: none has to. */
  readonly renewal?: {
    isDue(session: Session, now: number): boolean
    /** Null: it has ended. Rejects with any Error where nobody may pass. */
    renew(open: OpenSession, x: Exchange): Promise<OpenSession | null>
  }
}

/** The name of the cookies of sessions. */
export function cookieOf({ cookie = DEFAULT_COOKIE }: SessionConfig): string {
  return cookie
}

/** Decides about requests by their sessions; one that was open before costs a hash and a look into a map. */
export class SessionGate {
  readonly codec: SessionCodec
  readonly lifetimeMs: number
  readonly #config: SessionGateConfig
  readonly #source: SessionSource
  readonly #env: CompileEnv
  readonly #jar: CookieJar
  readonly #idleMs: number
  /** The Set-Cookie fields of the response. */
  readonly #cookies: Slot<readonly string[]>

  /** @throws Error for a time that is none, or too long. */
  constructor(config: SessionGateConfig, source: SessionSource, env: CompileEnv) {
    const { lifetime = DEFAULT_LIFETIME, idleTimeout = DEFAULT_IDLE } = config.session
    this.#config = config
    this.#source = source
    this.#env = env
    this.#jar = new CookieJar({ name: cookieOf(config.session), isSecure: source.site.isSecure })
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
    // The response that brought the new cookie may have got lost.
    if (open !== opened) this.#keep(x, open.session, cookies)
    const isDue = this.#source.renewal?.isDue(open.session, now) === true
    if (isDue || performance.now() - open.checkedMono >= CHECK_EVERY_MS) return this.#renew(x, cookies, open)
    return this.#accept(x, cookies, open)
  }

  #open(cookies: Cookies): OpenSession | null {
    const text = this.#jar.read(cookies)
    return text === '' ? null : this.codec.open(text)
  }

  /** Has the browser keep a session. One that has become too long goes on until it has to be renewed again. */
  #keep(x: Exchange, session: Session, before: Cookies): void {
    const fields = this.write(session, before)
    if (fields === null) this.#env.report('session_too_long', {})
    this.#cookies.set(x, fields ?? [])
  }

  /** The fields that set a session; null: it is too long for cookies. */
  write(session: Session, before: Cookies): string[] | null {
    const leftMs = session.startedAt + this.lifetimeMs - Date.now()
    return this.#jar.write(this.codec.seal(session), Math.max(0, Math.floor(leftMs / 1000)), before)
  }

  /**
   * Ends a session, where a page of the site asks for it: by GET where a page is opened, not where one shows an image of
   * that address or is fetched beforehand.
   * @param leave where the browser goes then, with the fields that end its cookies.
   */
  async logOut(
    x: Exchange,
    cookies: Cookies,
    leave: (open: OpenSession | null, ended: readonly string[]) => Promise<Reply>,
  ): Promise<Reply> {
    const isAsked = x.method === 'POST' || (x.method === 'GET' && isNavigation(x))
    if (!isAsked || !isOfSite(x, this.#source.site))
      return this.#env.refusal('GW_ACCESS_DENIED', 'only pages of this site can log out')
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
    // A cache that kept it would hand the session to others.
    if (fields.length > 0) setHeader(x.responseHeaders, 'cache-control', 'no-store')
    return null
  }

  #isOver({ startedAt, seenAt, until }: Session, now: number): boolean {
    if (now - startedAt >= this.lifetimeMs || (until !== null && now >= until)) return true
    return this.#idleMs > 0 && now - seenAt >= this.#idleMs
  }

  /** Asks whether the session was ended before its time, and renews it where it has to be. */
  async #renew(x: Exchange, cookies: Cookies, open: OpenSession): Promise<Outcome> {
    if (!(await this.#isChecked(open))) return loginUnavailable(this.#env)
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

  /** False: nobody can say, and then nobody may pass. */
  async #isChecked(open: OpenSession): Promise<boolean> {
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

/** What another request has renewed counts, while the browser still sends the cookie before. */
function latestOf(open: OpenSession | null): OpenSession | null {
  let latest = open
  while (latest !== null && latest.successor !== null) latest = latest.successor
  return latest
}
