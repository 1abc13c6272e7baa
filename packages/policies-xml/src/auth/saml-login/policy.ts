import {
  type CompileEnv,
  definePolicy,
  type Eventual,
  type Exchange,
  parseDuration,
  type Step,
} from '@sluice/core'
import { CookieSeal } from '@sluice/policies/identity/session/cookie-seal'
import { endedSessions } from '@sluice/policies/identity/session/ended-sessions'
import { redirect } from '@sluice/policies/identity/session/redirect'
import type { OpenSession, Session } from '@sluice/policies/identity/session/session'
import { SessionGate } from '@sluice/policies/identity/session/session-gate'
import { type Site, siteOf } from '@sluice/policies/identity/session/site'
import { claimAt, claimTexts } from '@sluice/policies/identity/token/claim'
import { idOf } from '@sluice/policies/identity/token/claim-rules'
import { consumerIn } from '@sluice/policies/identity/token/consumer-claims'
import { ForwardedClaims } from '@sluice/policies/identity/token/forwarded-claims'
import { digestOf } from '@sluice/policies/shared/call/call-sharing'
import { readCookies } from '@sluice/policies/shared/field-location/cookie'
import { loadLibxml } from '../../engines/xml/libxml.js'
import type { IdentityProvider } from '../saml/idp.js'
import { DEFAULT_SKEW, NAME_ID } from '../saml/schema.js'
import { compileAuthnRequest } from './authn-request.js'
import type { SamlLogin } from './login.js'
import { DEFAULT_RETURN, type SamlLoginConfig, samlLoginSchema } from './schema.js'

/** The `saml-login` policy. Logs users in with SAML, and identifies the consumer. */
export const samlLogin = definePolicy({
  name: 'saml-login',
  summary:
    'Logs users in at a SAML 2.0 identity provider, keeps their sessions in encrypted cookies, and identifies the consumer.',
  schema: samlLoginSchema,
  cost: 'cheap',
  secretNames: () => ['cookie', 'set-cookie'],
  authenticates: ({ acs = false }) => (acs ? null : 'request'),
  answersPaths: ({ acs = false, acsUrl, logout }) => {
    if (acs) return URL.canParse(acsUrl) ? [new URL(acsUrl).pathname] : []
    return logout?.path.startsWith('/') ? [logout.path] : []
  },
  compile: (config, env) => compileStep(config, env),
})

/** Loads the XML code only for gateways that use this policy. */
async function compileStep(config: SamlLoginConfig, env: CompileEnv): Promise<Step> {
  await loadLibxml()
  const [{ SamlLogin }, { assertionVerifier }, { assertionUse }, { openIdentityProvider }] =
    await Promise.all([
      import('./login.js'),
      import('../saml/verifier.js'),
      import('../saml/assertion-use.js'),
      import('../saml/idp.js'),
    ])
  const { audience, acsUrl, session, signingKey, consumerClaim = NAME_ID } = config
  const idp = openIdentityProvider(config.idp, env)
  if (idp.ssoUrl === null) throw new Error("'idp' has no login URL: set 'idp.ssoUrl'")
  const site = siteOf(acsUrl, 'acsUrl')
  const { cookie } = session
  const sealed = new CookieSeal(session.secrets, `saml ${digestOf(idp.entityId, audience, cookie)}`)
  const skewMs = parseDuration(config.clockSkew ?? DEFAULT_SKEW)
  const rules = { issuer: idp.entityId, keys: idp.keys, audience, recipient: acsUrl, skewMs }
  const request = { ssoUrl: idp.ssoUrl, acsUrl, issuer: audience, signingKey: signingKey?.key }
  const login = new SamlLogin(
    {
      ...{ site, sealed, cookie, idp, consumerClaim, lists: config, addressOf: compileAuthnRequest(request) },
      verify: assertionVerifier(rules, 'root', env),
      use: assertionUse(idp, { sharing: config.replay ?? {}, skewMs }, env),
    },
    env,
  )
  const gate = new Gate(config, { login, idp, site, sealed }, env)
  if (config.acs !== true)
    return {
      name: 'saml-login',
      onRequest: (x) => gate.admit(x),
      onResponse: (x) => gate.sessions.onResponse(x),
    }
  return {
    name: 'saml-login',
    decidesOnBody: true,
    onRequest: (x) => login.admit(x),
    onRequestBody: (x, body) => login.finish(x, body, (one, cookies) => gate.sessions.write(one, cookies)),
  }
}

interface GateParts {
  readonly login: SamlLogin
  readonly idp: IdentityProvider
  readonly site: Site
  readonly sealed: CookieSeal
}

class Gate {
  readonly sessions: SessionGate
  readonly #config: SamlLoginConfig
  readonly #forwarded: ForwardedClaims
  readonly #logout: { readonly path: string; readonly returnTo: string } | null

  /** @throws Error for problems that the schema cannot find. */
  constructor(config: SamlLoginConfig, { login, idp, site, sealed }: GateParts, env: CompileEnv) {
    const { audience, logout } = config
    this.#config = config
    this.#forwarded = new ForwardedClaims(config.forwardClaims ?? {}, 'cookie')
    const returnTo = `${site.origin}${logout?.returnTo ?? DEFAULT_RETURN}`
    this.#logout = logout === undefined ? null : { path: logout.path, returnTo }
    const source = {
      ...{ site, sealed, ended: endedSessions(idp.entityId, audience, env) },
      prepare: (one: Session) => this.#prepare(one),
      isLoginCookie: (name: string) => login.isCookie(name),
      begin: login.begin.bind(login),
    }
    this.sessions = new SessionGate(config, source, env)
  }

  admit(x: Exchange): Eventual {
    this.#forwarded.clear(x.headers)
    const cookies = readCookies(x.headers)
    const logout = this.#logout
    if (x.path !== logout?.path) return this.sessions.admit(x, cookies)
    return this.sessions.logOut(x, cookies, async (_, ended) => redirect(logout.returnTo, ended))
  }

  /**
   * Returns the session, or null if its attributes do not identify a consumer under the current
   * configuration.
   */
  #prepare(session: Session): OpenSession | null {
    const { consumerClaim = NAME_ID } = this.#config
    if (idOf(claimAt(session.claims, consumerClaim)) === null) return null
    const texts = claimTexts(session.claims)
    const known = { ...this.#config, consumerClaim, auth: 'saml-login', texts }
    return {
      ...{ session, consumer: consumerIn(session.claims, known), claims: texts },
      lines: this.#forwarded.linesOf(session.claims),
      ...{ checkedMono: Number.NEGATIVE_INFINITY, isEnded: false, successor: null },
    }
  }
}
