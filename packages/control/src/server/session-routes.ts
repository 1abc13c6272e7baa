import { cookieName, isForgeable, type Static, sessionCookie, sessionIdIn } from '@sluice/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Authenticator, type Caller, requireRole, SESSION_MS } from './access.js'
import { type ApiBackend, endpoint } from './api.js'
import { LoginFailed, type OidcLogin } from './oidc-login.js'
import { ControlProblem } from './problem.js'
import { LoginBody, LoginMethodsView, LogoutView, SessionView } from './schemas.js'

/** Dependencies of the endpoints for sessions. */
export interface SessionRoutesOptions {
  readonly backend: Pick<ApiBackend, 'log'>
  readonly authenticator: Authenticator
  /** True if browsers reach the controller over TLS. */
  readonly isSecure: boolean
  /** Login of people, or null. */
  readonly oidc: OidcLogin | null
  readonly onEvent: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

/** Time for a login at the provider, in milliseconds. */
const LOGIN_MS = 600_000
const CALLBACK_PATH = '/v1/login/callback'

/** Endpoints for the login of the dashboard. */
export function addSessionRoutes(app: FastifyInstance, options: SessionRoutesOptions): void {
  const { authenticator, isSecure, oidc } = options
  const cookieFor = ({ headers: { host = '' } }: FastifyRequest, sessionId: string): string =>
    sessionCookie(cookieName(host, isSecure), sessionId, { isSecure, maxAgeMs: SESSION_MS })
  app.get(
    '/v1/login-methods',
    endpoint('open', { summary: 'Ways to log in to the dashboard', response: LoginMethodsView }),
    async () => ({ openidConnect: oidc !== null }),
  )
  if (oidc !== null) addLoginRoutes(app, oidc, options)
  app.get(
    '/v1/session',
    endpoint('viewer', { summary: 'The caller', response: SessionView }),
    async (request) => {
      // With the highest role, people are shown theirs.
      const { authorization = '' } = request.headers
      const sessionId = sessionIdOf(request, isSecure)
      return sessionView(
        authenticator.authenticate({ address: request.ip, authorization, sessionId, required: 'admin' }),
      )
    },
  )
  app.post<{ Body: Static<typeof LoginBody> }>(
    '/v1/session',
    endpoint('open', {
      summary: 'Logs in to the dashboard with a token. The response sets a cookie.',
      ...{ body: LoginBody, response: SessionView },
    }),
    async (request, reply) => {
      refuseForgery(request)
      const credentials = { address: request.ip, authorization: `Bearer ${request.body.token}` }
      const caller = authenticator.authenticate(credentials)
      requireRole(caller, 'viewer')
      authenticator.logOut(sessionIdOf(request, isSecure))
      reply.header('set-cookie', cookieFor(request, authenticator.logIn(request.body.token, caller)))
      return sessionView(caller)
    },
  )
  app.delete(
    '/v1/session',
    endpoint('viewer', {
      summary: 'Logs out of the dashboard',
      response: LogoutView,
    }),
    async (request, reply) => {
      const isPerson = authenticator.logOut(sessionIdOf(request, isSecure))
      reply.header('set-cookie', cookieFor(request, ''))
      return { logoutUrl: isPerson && oidc !== null ? await oidc.logoutUrl() : null }
    },
  )
}

/** Pages that a browser opens to log in at the provider. A failed login ends at the dashboard, with its reason. */
function addLoginRoutes(app: FastifyInstance, oidc: OidcLogin, options: SessionRoutesOptions): void {
  const { backend, authenticator, isSecure, onEvent } = options
  const open = { config: { access: 'open' }, schema: { hide: true } } as const
  const originOf = ({ headers: { host } }: FastifyRequest) => `${isSecure ? 'https' : 'http'}://${host}`
  const loginName = ({ headers: { host = '' } }: FastifyRequest) => cookieName(host, isSecure, 'login')
  // The provider is another site, so this cookie cannot be Strict.
  const loginCookie = (request: FastifyRequest, secret: string): string =>
    sessionCookie(loginName(request), secret, { isSecure, maxAgeMs: LOGIN_MS, sameSite: 'Lax' })
  const failed = (request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply => {
    if (!(error instanceof LoginFailed)) throw error
    onEvent('login.failed', { address: request.ip, reason: error.reason, problem: error.message })
    return reply.redirect(`/ui/#/login/${error.reason}`, 303)
  }
  app.get('/v1/login', open, async (request, reply) => {
    try {
      const { url, secret } = await oidc.begin(`${originOf(request)}${CALLBACK_PATH}`)
      return reply.header('set-cookie', loginCookie(request, secret)).redirect(url, 303)
    } catch (error) {
      return failed(request, reply, error)
    }
  })
  app.get(CALLBACK_PATH, open, async (request, reply) => {
    reply.header('set-cookie', loginCookie(request, ''))
    try {
      const secret = sessionIdIn(request.headers.cookie ?? '', loginName(request))
      const person = await oidc.finish(`${originOf(request)}${request.url}`, secret)
      const { actor, grants } = person
      await backend.log.append({ actor, address: request.ip }, () => ({ type: 'session.opened', grants }))
      const name = cookieName(request.headers.host ?? '', isSecure)
      authenticator.logOut(sessionIdOf(request, isSecure))
      const sessionId = authenticator.logInPerson(person)
      reply.header('set-cookie', sessionCookie(name, sessionId, { isSecure, maxAgeMs: SESSION_MS }))
      return reply.redirect('/ui/', 303)
    } catch (error) {
      return failed(request, reply, error)
    }
  })
}

/** Returns the id in the session cookie. Empty if there is none, or if the request has a token. */
export function sessionIdOf({ headers }: FastifyRequest, isSecure: boolean): string {
  const { authorization = '', cookie = '', host = '' } = headers
  return authorization === '' ? sessionIdIn(cookie, cookieName(host, isSecure)) : ''
}

/** Refuses a request that another site may have made a browser send. @throws ControlProblem */
export function refuseForgery({ method, headers }: FastifyRequest): void {
  if (!isForgeable(method, headers)) return
  throw new ControlProblem(
    'GW_CONTROL_FORGERY_SUSPECTED',
    'send the header x-sluice-ui: 1, from the same origin',
  )
}

function sessionView({ actor: name, role }: Caller) {
  return { name, role, isLoginRequired: true }
}
