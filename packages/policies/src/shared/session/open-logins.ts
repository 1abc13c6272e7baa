import { randomBytes } from 'node:crypto'
import type { Exchange } from '@sluice/core'
import type { Cookies } from '../field-location/cookie.js'
import { CookieJar, type CookieOptions } from './cookie-jar.js'
import type { CookieSeal } from './cookie-seal.js'

/** How long a user may take to log in. */
const LOGIN_SECONDS = 600
/** Logins that one browser has open at a time; with the next one all others are forgotten. */
const MAX_LOGINS = 5
const MAX_RETURN_LENGTH = 1024
const KEY = /^[A-Za-z0-9_-]{43}r?$/
/** At the end of the key of a login that was begun because another could not be finished. */
const RESTARTED = 'r'
const RESTARTED_LENGTH = 44
/** Of a key, in the name of its cookie. */
const NAME_LENGTH = 10

/** What a browser that logs in keeps until it comes back. */
export interface OpenLogin<T> {
  /** Random; it comes back with the browser. */
  readonly key: string
  /** Path and query of the page that was asked for, on the site. */
  readonly returnTo: string
  /** Ms since 1970. */
  readonly until: number
  /** What the policy has to know of it then. */
  readonly facts: T
}

/** The browser has not begun the login that it comes back from, or too long ago; the message says which. */
export class UnknownLogin extends Error {
  override readonly name = 'UnknownLogin'
}

/** The beginning of a login. */
export interface LoginStart {
  /** Path and query of the page to return to. */
  readonly returnTo: string
  /** True if it takes the place of one that could not be finished. */
  readonly isRestart?: boolean
}

/** The page that a request asks for. */
export function pageOf(x: Exchange): string {
  return x.query === '' ? x.rawPath : `${x.rawPath}?${x.query}`
}

/** True if the login may be restarted. A login restarts only once, to prevent a redirect loop. */
export function mayRestart(key: string | null): boolean {
  return key !== null && KEY.test(key) && key.length < RESTARTED_LENGTH
}

export interface OpenLoginsOptions extends Omit<CookieOptions, 'name'> {
  /** Of the cookies of sessions. */
  readonly cookie: string
  readonly sealed: CookieSeal
}

/** The logins that browsers have begun, each in an encrypted cookie of its own: a response is of no use in another browser. */
export class OpenLogins<T extends object> {
  readonly #options: OpenLoginsOptions
  readonly #prefix: string

  constructor(options: OpenLoginsOptions) {
    this.#options = options
    this.#prefix = `${options.cookie}-login-`
  }

  /** Whether a cookie is one of these. */
  isCookie(name: string): boolean {
    return name.replace(/^__Host-/, '').startsWith(this.#prefix)
  }

  /** Begins one: its key, and the fields that the browser keeps it by. */
  begin(
    { returnTo, isRestart = false }: LoginStart,
    cookies: Cookies,
    facts: T,
  ): { readonly key: string; readonly fields: string[] } {
    const login: OpenLogin<T> = {
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

  /** The login with a key, once. @param ended gets the fields that end its cookie. @throws UnknownLogin */
  take(key: string | null, cookies: Cookies, ended: string[]): OpenLogin<T> {
    if (key === null || !KEY.test(key)) throw new UnknownLogin('no key of a login')
    const jar = this.#jarOf(key)
    const text = this.#options.sealed.open(jar.read(cookies), 'login')
    ended.push(...jar.clear(cookies))
    const login = text === null ? null : (JSON.parse(text) as OpenLogin<T>)
    if (login === null || login.key !== key) throw new UnknownLogin('no cookie of this login')
    if (Date.now() >= login.until) throw new UnknownLogin('the login is too old')
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
