import { randomBytes } from 'node:crypto'
import { type CompileEnv, type Exchange, Overload, type Reply, UnreadableBody } from '@sluice/core'
import type { CookieSeal } from '@sluice/policies/identity/session/cookie-seal'
import {
  type LoginStart,
  mayRestart,
  PendingLogins,
  pageOf,
  UnknownLogin,
} from '@sluice/policies/identity/session/pending-logins'
import { loginUnavailable, redirect } from '@sluice/policies/identity/session/redirect'
import type { Session } from '@sluice/policies/identity/session/session'
import { isNavigation, type Site } from '@sluice/policies/identity/session/site'
import { claimAt } from '@sluice/policies/identity/token/claim'
import { idOf } from '@sluice/policies/identity/token/claim-rules'
import { type Cookies, readCookies } from '@sluice/policies/shared/field-location/cookie'
import type { JsonObject } from '@sluice/policies/shared/json/strict-json'
import { formText, isForm } from '@sluice/policies/shared/message/form'
import { overloadRefusal } from '@sluice/policies/shared/outcome/overload'
import type { Assertion } from '../saml/assertion.js'
import { claimsOf } from '../saml/assertion-claims.js'
import type { UseAssertion } from '../saml/assertion-use.js'
import { formField, MAX_FORM_BYTES } from '../saml/form.js'
import type { IdentityProvider } from '../saml/idp.js'
import { DEFAULT_FIELD } from '../saml/schema.js'
import type { VerifyAssertion } from '../saml/verifier.js'
import type { SamlLoginConfig } from './schema.js'

/** Login data that are needed again when the browser returns. */
interface LoginFacts {
  readonly id: string
}

/** Collaborators of `SamlLogin`. */
export interface LoginParts {
  readonly site: Site
  readonly sealed: CookieSeal
  readonly cookie: string
  readonly idp: Pick<IdentityProvider, 'validUntilMs'>
  readonly consumerClaim: string
  readonly lists: Pick<SamlLoginConfig, 'groupsClaim' | 'rolesClaim'>
  readonly addressOf: (id: string, relayState: string) => string
  readonly verify: VerifyAssertion
  readonly use: UseAssertion
}

/** A response that does not create a session. The message is for the operator. */
class LoginFailed extends Error {}

/** A response whose assertion was used before, or is too old to check that. */
class StaleAssertion extends LoginFailed {}

/** Redirects browsers to the provider, and creates sessions from the responses that they post. */
export class SamlLogin {
  readonly #parts: LoginParts
  readonly #env: CompileEnv
  readonly #logins: PendingLogins<LoginFacts>

  constructor(parts: LoginParts, env: CompileEnv) {
    this.#parts = parts
    this.#env = env
    const { sealed, cookie, site } = parts
    this.#logins = new PendingLogins({ cookie, sealed, isSecure: site.isSecure, isSentByOthers: true })
  }

  /** True if the cookie belongs to a pending login. */
  isCookie(name: string): boolean {
    return this.#logins.isCookie(name)
  }

  /** Redirects to the provider. @param ended Set-Cookie lines that remove a session. */
  async begin(x: Exchange, cookies: Cookies, ended: readonly string[]): Promise<Reply> {
    return this.#start(x, { returnTo: pageOf(x) }, cookies, ended)
  }

  #start(x: Exchange, start: LoginStart, cookies: Cookies, ended: readonly string[]): Reply {
    // The login URL may be outdated once the metadata have expired.
    if (Date.now() >= this.#parts.idp.validUntilMs) {
      x.record.reason = 'the metadata of the provider have expired'
      return loginUnavailable(this.#env, ended)
    }
    // An xsd:ID must not begin with a digit.
    const facts = { id: `_${randomBytes(20).toString('hex')}` }
    const { key, fields } = this.#logins.begin(start, cookies, facts)
    return redirect(this.#parts.addressOf(facts.id, key), [...ended, ...fields])
  }

  /** Checks a response before its body is read. */
  admit(x: Exchange): Reply | null {
    if (x.method !== 'POST' || !isForm(x) || x.contentLength === 0)
      return this.#failed(x, 'the request is not a POST with a form', [])
    x.bodyLimit = Math.min(x.bodyLimit, MAX_FORM_BYTES)
    return null
  }

  /**
   * Completes a login after the browser has returned (SAML Profiles, section 4.1.4.3).
   * @param write returns the Set-Cookie lines of a session, or null if it is too large for cookies.
   */
  async finish(
    x: Exchange,
    body: Uint8Array,
    write: (session: Session, cookies: Cookies) => readonly string[] | null,
  ): Promise<Reply> {
    const cookies = readCookies(x.headers)
    const ended: string[] = []
    const relayState = formText(body, 'RelayState')
    let page = '/'
    try {
      const { facts, returnTo } = this.#logins.take(relayState, cookies, ended)
      page = returnTo
      const assertion = await this.#assertionIn(x, body, facts)
      const verdict = await this.#parts.use(assertion)
      if (verdict === 'full') return OVERLOADED
      if (verdict === 'unavailable') return loginUnavailable(this.#env, ['cache-control', 'no-store'])
      if (verdict !== 'first') throw new StaleAssertion('the assertion was used before or is too old')
      const set = write(sessionOf(assertion, this.#claimsOf(assertion)), cookies)
      if (set === null) throw new LoginFailed('the attributes are too long for cookies')
      return redirect(`${this.#parts.site.origin}${returnTo}`, [...ended, ...set])
    } catch (error) {
      if (error instanceof Overload || error instanceof UnreadableBody) return OVERLOADED
      if (!(error instanceof LoginFailed || error instanceof UnknownLogin)) throw error
      // The browser logs in again if the login was evicted by other tabs, the response is repeated, or the user took
      // too long.
      const isLost = error instanceof UnknownLogin || error instanceof StaleAssertion
      // Restarts only for page loads. Other sites could otherwise post into a hidden frame and fill the browser
      // with login cookies.
      if (!isLost || !mayRestart(relayState) || !isNavigation(x)) return this.#failed(x, error.message, ended)
      x.record.reason = error.message
      return this.#start(x, { returnTo: page, isRestart: true }, cookies, ended)
    }
  }

  async #assertionIn(x: Exchange, body: Uint8Array, { id }: LoginFacts): Promise<Assertion> {
    const bytes = formField(body, DEFAULT_FIELD)
    if (bytes === null) throw new LoginFailed('no SAMLResponse')
    const read = await this.#parts.verify(bytes, x)
    if ('issue' in read) throw new LoginFailed(read.reason)
    const { assertion } = read
    if (!assertion.inResponseTo.includes(id)) throw new LoginFailed('the response answers another request')
    // A redirect to the provider would return here at once, in a loop.
    if (assertion.sessionUntilMs !== null && Date.now() >= assertion.sessionUntilMs)
      throw new LoginFailed('the session at the provider has ended')
    return assertion
  }

  /** @throws LoginFailed */
  #claimsOf(assertion: Assertion): JsonObject {
    const claims = claimsOf(assertion, this.#parts.lists)
    if (idOf(claimAt(claims, this.#parts.consumerClaim)) === null)
      throw new LoginFailed('the assertion does not identify the consumer')
    return claims
  }

  #failed(x: Exchange, reason: string, ended: readonly string[]): Reply {
    x.record.reason = reason
    const detail = 'this login started in another browser, has expired or was refused: open the page again'
    return this.#env.refusal('GW_LOGIN_FAILED', detail, ['cache-control', 'no-store', ...ended])
  }
}

const OVERLOADED = overloadRefusal('too many assertions are being checked: try again later')

function sessionOf({ sessionUntilMs }: Assertion, claims: JsonObject): Session {
  const now = Date.now()
  return {
    ...{ id: randomBytes(16).toString('base64url'), generation: 0, startedAt: now, seenAt: now, claims },
    ...{ scopes: null, idToken: null, accessToken: null, refreshToken: null },
    ...{ accessUntil: null, refreshAt: null, until: sessionUntilMs },
  }
}
