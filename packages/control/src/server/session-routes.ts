import { cookieName, isForgeable, type Static, sessionCookie, sessionIdIn, Type } from '@sluice/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Authenticator, type Caller, requireRole, SESSION_MS } from './access.js'
import { endpoint } from './api.js'
import { ControlProblem } from './problem.js'
import { LoginBody, LoginMethodsView, SessionView } from './schemas.js'

/** Dependencies of the endpoints for sessions. */
export interface SessionRoutesOptions {
  readonly authenticator: Authenticator
  /** True if browsers reach the controller over TLS. */
  readonly isSecure: boolean
}

/** Endpoints for the login of the dashboard. */
export function addSessionRoutes(app: FastifyInstance, { authenticator, isSecure }: SessionRoutesOptions) {
  const cookieFor = ({ headers: { host = '' } }: FastifyRequest, sessionId: string): string =>
    sessionCookie(cookieName(host, isSecure), sessionId, { isSecure, maxAgeMs: SESSION_MS })
  app.get(
    '/v1/login-methods',
    endpoint('open', { summary: 'Ways to log in to the dashboard', response: LoginMethodsView }),
    async () => ({ openidConnect: false }),
  )
  app.get(
    '/v1/session',
    endpoint('viewer', { summary: 'The caller', response: SessionView }),
    async ({ caller }) => sessionView(caller),
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
      response: Type.Object({ closed: Type.Boolean() }),
    }),
    async (request, reply) => {
      authenticator.logOut(sessionIdOf(request, isSecure))
      reply.header('set-cookie', cookieFor(request, ''))
      return { closed: true }
    },
  )
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
