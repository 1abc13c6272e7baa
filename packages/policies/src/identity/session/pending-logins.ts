import { randomBytes } from 'node:crypto'
import type { Exchange } from '@sluice/core'
import type { Cookies } from '../../shared/field-location/cookie.js'
import { CookieJar, type CookieOptions } from './cookie-jar.js'
import type { CookieSeal } from './cookie-seal.js'

/** Maximum duration of a login in seconds. */
const LOGIN_SECONDS = 600
/** Maximum number of pending logins of a browser. The next one clears all others. */
const MAX_LOGINS = 5
const MAX_RETURN_LENGTH = 1024
const KEY = /^[A-Za-z0-9_-]{43}r?$/
/** Suffix of the key of a restarted login. */
const RESTARTED = 'r'
const RESTARTED_LENGTH = 44
/** Number of characters of a key that its cookie name contains. */
const NAME_LENGTH = 10

/** Data of a pending login that the browser stores until it returns. */
export interface PendingLogin<T> {
  /** Random key that returns with the browser. */
  readonly key: string
  /** Path and query of the requested page. */
  readonly returnTo: string
  /** Expiry in milliseconds since 1970. */
  readonly until: number
  /** Data of the policy. */
  readonly facts: T
}

/** Thrown if the browser has not started the login, or started it too long ago. The message says which. */
export class UnknownLogin extends Error {
  override readonly name = 'UnknownLogin'
}

/** Options for starting a login. */
export interface LoginStart {
  /** Path and query of the page to return to. */
  readonly returnTo: string
  /** True if it replaces a login that could not be completed. */
  readonly isRestart?: boolean
}

/** Returns the path and query of a request. */
export function pageOf(x: Exchange): string {
  return x.query === '' ? x.rawPath : `${x.rawPath}?${x.query}`
}

/** Returns true if the login may be restarted. A login restarts only once, to prevent a redirect loop. */
export function mayRestart(key: string | null): boolean {
  return key !== null && KEY.test(key) && key.length < RESTARTED_LENGTH
}

interface PendingLoginsOptions extends Omit<CookieOptions, 'name'> {
  /** Name of the session cookies. */
  readonly cookie: string
  readonly sealed: CookieSeal
}

/**
 * Pending logins of browsers, each in its own encrypted cookie. So a response of the provider works only in the
 * browser that started the login.
 */
export class PendingLogins<T extends object> {
  readonly #options: PendingLoginsOptions
  readonly #prefix: string

  constructor(options: PendingLoginsOptions) {
    this.#options = options
    this.#prefix = `${options.cookie}-login-`
  }

  isCookie(name: string): boolean {
    return name.replace(/^__Host-/, '').startsWith(this.#prefix)
  }

  /** Starts a login. Returns its key and the headers that set its cookie. */
  begin(
    { returnTo, isRestart = false }: LoginStart,
    cookies: Cookies,
    facts: T,
  ): { readonly key: string; readonly fields: string[] } {
    const login: PendingLogin<T> = {
      key: randomBytes(32).toString('base64url') + (isRestart ? RESTARTED : ''),
      returnTo: returnTo.length <= MAX_RETURN_LENGTH ? returnTo : '/',
      until: Date.now() + LOGIN_SECONDS * 1000,
      facts,
    }
    const sealed = this.#options.sealed.seal(JSON.stringify(login), 'login')
    const set = this.#jarOf(login.key).write(sealed, LOGIN_SECONDS, cookies)!
    return { key: login.key, fields: [...this.#forgotten(cookies), ...set] }
  }

  #forgotten(cookies: Cookies): string[] {
    const names = [...cookies.keys()].filter((name) => this.isCookie(name))
    if (names.length < MAX_LOGINS) return []
    return names.flatMap((name) => this.#jarNamed(name.replace(/^__Host-/, '')).clear(cookies))
  }

  /**
   * Returns the pending login of a key and removes it.
   * @param ended receives the headers that expire its cookie.
   * @throws UnknownLogin
   */
  take(key: string | null, cookies: Cookies, ended: string[]): PendingLogin<T> {
    if (key === null || !KEY.test(key)) throw new UnknownLogin('missing or invalid login key')
    const jar = this.#jarOf(key)
    const text = this.#options.sealed.open(jar.read(cookies), 'login')
    ended.push(...jar.clear(cookies))
    const login = text === null ? null : (JSON.parse(text) as PendingLogin<T>)
    if (login === null || login.key !== key) throw new UnknownLogin('no cookie for this login')
    if (Date.now() >= login.until) throw new UnknownLogin('the login has expired')
    return login
  }

  #jarOf(key: string): CookieJar {
    return this.#jarNamed(this.#prefix + key.slice(0, NAME_LENGTH))
  }

  #jarNamed(name: string): CookieJar {
    const { isSecure, isSentByOthers = false } = this.#options
    return new CookieJar({ name, isSecure, isSentByOthers })
  }
}
