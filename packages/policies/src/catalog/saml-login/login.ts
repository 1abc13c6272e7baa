import { randomBytes } from 'node:crypto'
import { type CompileEnv, type Exchange, Overload, type Reply, UnreadableBody } from '@sluice/core'
import type { JsonObject } from '../../engines/json/strict-json.js'
import { overloadRefusal } from '../../shared/overload.js'
import { CookieJar, type Cookies, readCookies } from '../../shared/session/cookie-jar.js'
import { loginUnavailable, redirect } from '../../shared/session/redirect.js'
import type { SealedText } from '../../shared/session/sealed-text.js'
import type { Session } from '../../shared/session/session.js'
import type { Site } from '../../shared/session/site.js'
import { claimAt } from '../jwt/claim.js'
import { idOf } from '../jwt/claim-rules.js'
import type { Assertion } from '../saml/assertion.js'
import { claimsOf } from '../saml/assertion-claims.js'
import type { AssertionUse } from '../saml/assertion-use.js'
import { formField, formText, isForm, MAX_FORM_BYTES } from '../saml/form.js'
import { DEFAULT_FIELD } from '../saml/schema.js'
import type { AssertionVerifier } from '../saml/verifier.js'

/** What a browser that logs in keeps until it comes back. */
interface OpenLogin {
  readonly relayState: string
  /** Of the request. */
  readonly id: string
  /** Path and query, on the site. */
  readonly returnTo: string
  /** Ms since 1970. */
  readonly until: number
}

const PURPOSE = 'saml-login'
/** How long a user may take to log in. */
const LOGIN_SECONDS = 600
/** Logins that one browser has open at a time; with the next one all others are forgotten. */
const MAX_LOGINS = 5
const MAX_RETURN_LENGTH = 1024
const RELAY_STATE = /^[A-Za-z0-9_-]{43}$/
const STATE_NAME_LENGTH = 10

export interface LoginParts {
  readonly site: Site
  readonly sealed: SealedText
  readonly cookie: string
  /** The claim with the id of the consumer. */
  readonly consumerClaim: string
  readonly addressOf: (id: string, relayState: string) => string
  readonly verifier: AssertionVerifier
  readonly use: AssertionUse
}

/** A response that makes no session; the message is for the operator. */
class LoginFailed extends Error {}

/** Sends browsers to the provider, and makes sessions of what they post. */
export class SamlLogin {
  readonly #parts: LoginParts
  readonly #env: CompileEnv
  readonly #cookiePrefix: string

  constructor(parts: LoginParts, env: CompileEnv) {
    this.#parts = parts
    this.#env = env
    this.#cookiePrefix = `${parts.cookie}-login-`
  }

  /** Whether a cookie is one of a login that is open. */
  isCookie(name: string): boolean {
    return name.replace(/^__Host-/, '').startsWith(this.#cookiePrefix)
  }

  /** The way to the provider. @param ended the fields that end a session. */
  async begin(x: Exchange, cookies: Cookies, ended: readonly string[]): Promise<Reply> {
    const returnTo = x.query === '' ? x.rawPath : `${x.rawPath}?${x.query}`
    const login: OpenLogin = {
      // An xsd:ID begins with no digit.
      ...{ id: `_${randomBytes(20).toString('hex')}`, relayState: randomBytes(32).toString('base64url') },
      returnTo: returnTo.length <= MAX_RETURN_LENGTH ? returnTo : '/',
      until: Date.now() + LOGIN_SECONDS * 1000,
    }
    const sealed = this.#parts.sealed.seal(JSON.stringify(login), PURPOSE)
    const set = this.#jarOf(login.relayState).write(sealed, LOGIN_SECONDS, cookies)!
    const address = this.#parts.addressOf(login.id, login.relayState)
    return redirect(address, [...ended, ...this.#forgotten(cookies), ...set])
  }

  #forgotten(cookies: Cookies): string[] {
    const names = [...cookies.keys()].filter((name) => this.isCookie(name))
    if (names.length < MAX_LOGINS) return []
    return names.flatMap((name) => this.#jarNamed(name.replace(/^__Host-/, '')).clear(cookies))
  }

  /** Before the body is read. */
  admit(x: Exchange): Reply | null {
    if (x.method !== 'POST' || !isForm(x) || x.contentLength === 0)
      return this.#failed(x, 'no form by POST', [])
    x.bodyLimit = Math.min(x.bodyLimit, MAX_FORM_BYTES)
    return null
  }

  /**
   * The browser has come back (SAML Profiles, section 4.1.4.3).
   * @param write the Set-Cookie fields of a session; null: it is too long for cookies.
   */
  async finish(
    x: Exchange,
    body: Uint8Array,
    write: (session: Session, cookies: Cookies) => readonly string[] | null,
  ): Promise<Reply> {
    const cookies = readCookies(x.headers)
    const ended: string[] = []
    try {
      const login = this.#openLogin(body, cookies, ended)
      const assertion = await this.#assertionIn(x, body, login)
      const verdict = await this.#parts.use.use(assertion)
      if (verdict === 'full') return OVERLOADED
      if (verdict === 'unavailable') return loginUnavailable(this.#env, ['cache-control', 'no-store'])
      if (verdict !== 'first') throw new LoginFailed('the assertion was used before, or is too old')
      const set = write(sessionOf(assertion, this.#claimsOf(assertion)), cookies)
      if (set === null) throw new LoginFailed('the attributes are too long for cookies')
      return redirect(`${this.#parts.site.origin}${login.returnTo}`, [...ended, ...set])
    } catch (error) {
      if (error instanceof LoginFailed) return this.#failed(x, error.message, ended)
      if (error instanceof Overload || error instanceof UnreadableBody) return OVERLOADED
      throw error
    }
  }

  /** @param ended gets the fields that end its cookie. @throws LoginFailed */
  #openLogin(body: Uint8Array, cookies: Cookies, ended: string[]): OpenLogin {
    const relayState = formText(body, 'RelayState')
    if (relayState === null || !RELAY_STATE.test(relayState)) throw new LoginFailed('no RelayState of ours')
    const jar = this.#jarOf(relayState)
    const text = this.#parts.sealed.open(jar.read(cookies), PURPOSE)
    ended.push(...jar.clear(cookies))
    const login = text === null ? null : (JSON.parse(text) as OpenLogin)
    if (login === null || login.relayState !== relayState) throw new LoginFailed('no cookie of this login')
    if (Date.now() >= login.until) throw new LoginFailed('the login is too old')
    return login
  }

  async #assertionIn(x: Exchange, body: Uint8Array, { id }: OpenLogin): Promise<Assertion> {
    const bytes = formField(body, DEFAULT_FIELD)
    if (bytes === null) throw new LoginFailed('no SAMLResponse')
    const read = await this.#parts.verifier.read(bytes, x)
    if ('flaw' in read) throw new LoginFailed(read.reason)
    if (!read.assertion.inResponseTo.includes(id)) throw new LoginFailed('it answers another request')
    return read.assertion
  }

  /** @throws LoginFailed */
  #claimsOf(assertion: Assertion): JsonObject {
    const claims = claimsOf(assertion)
    if (idOf(claimAt(claims, this.#parts.consumerClaim)) === null)
      throw new LoginFailed('the assertion does not name the consumer')
    return claims
  }

  #failed(x: Exchange, reason: string, ended: readonly string[]): Reply {
    x.record.reason = reason
    const detail = 'this login was begun in another browser, is too old, or was refused; open the page again'
    return this.#env.refusal('GW_LOGIN_FAILED', detail, ['cache-control', 'no-store', ...ended])
  }

  #jarOf(relayState: string): CookieJar {
    return this.#jarNamed(this.#cookiePrefix + relayState.slice(0, STATE_NAME_LENGTH))
  }

  #jarNamed(name: string): CookieJar {
    return new CookieJar({ name, isSecure: this.#parts.site.isSecure, isSentByOthers: true })
  }
}

const OVERLOADED = overloadRefusal('too many assertions are being checked; try again')

function sessionOf({ sessionUntilMs }: Assertion, claims: JsonObject): Session {
  const now = Date.now()
  return {
    ...{ id: randomBytes(16).toString('base64url'), generation: 0, startedAt: now, seenAt: now, claims },
    ...{ scopes: null, idToken: null, accessToken: null, refreshToken: null },
    ...{ accessUntil: null, refreshAt: null, until: sessionUntilMs },
  }
}
