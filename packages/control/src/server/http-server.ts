import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type PeerCertificate, type SecureContextOptions, TLSSocket } from 'node:tls'
import swagger from '@fastify/swagger'
import { browserObjection } from '@sluice/core'
import { uiServer } from '@sluice/ui'
import { Ajv } from 'ajv'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify'
import { StoreUnavailable } from '../store/open-store.js'
import { type Authenticator, requireGroup, requirePart, requireRole } from './access.js'
import { type ApiBackend, endpoint } from './api.js'
import { auditRoutes } from './audit-routes.js'
import { bundleRoutes } from './bundle-routes.js'
import { chunkRoutes } from './chunk-routes.js'
import { deployRoutes } from './deploy-routes.js'
import { groupRoutes } from './group-routes.js'
import type { OidcLogin } from './oidc-login.js'
import { type ControlErrorCode, ControlProblem } from './problem.js'
import { addSessionRoutes, refuseForgery, sessionIdOf } from './session-routes.js'
import { tokenRoutes } from './token-routes.js'

const ROUTES = [groupRoutes, auditRoutes, chunkRoutes, bundleRoutes, deployRoutes, tokenRoutes]

/** Limits for clients that send nothing or too much. */
const SERVER_LIMITS = {
  headersTimeout: 5000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16_384,
}
/** Maximum size of a JSON body, in bytes. The largest one contains a manifest. */
const MAX_BODY_BYTES = 4 * 1024 * 1024

/** Options of the API server. */
export interface HttpServerOptions {
  readonly backend: ApiBackend
  readonly authenticator: Authenticator
  /** Names under which clients reach the controller, besides addresses and `localhost`. */
  readonly hosts: readonly string[]
  /** Certificate and key, and `ca` to accept client certificates; null for plain HTTP. */
  readonly tls: SecureContextOptions | null
  /** True if browsers reach the controller over TLS. */
  readonly isSecure: boolean
  /** Login of people, or null. */
  readonly oidc: OidcLogin | null
  readonly onEvent: (event: string, fields: Readonly<Record<string, unknown>>) => void
  readonly onError: (error: unknown) => void
}

/** Creates the server of the controller's API. It does not listen yet. */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const { backend, tls } = options
  const common = { bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true, keepAliveTimeout: 5000 }
  const certificates = { requestCert: tls?.ca !== undefined, rejectUnauthorized: false }
  const app: FastifyInstance =
    tls === null
      ? Fastify({ ...common, http: SERVER_LIMITS })
      : (Fastify({
          ...common,
          https: { ...SERVER_LIMITS, minVersion: 'TLSv1.2', handshakeTimeout: 5000, ...certificates, ...tls },
        }) as unknown as FastifyInstance)
  useSchemas(app)
  app.decorateRequest('caller', null as never)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    admit(request, options)
  })
  app.setErrorHandler((error: FastifyError, _request, reply) => {
    const problem = problemOf(error, options.onError)
    const head = {
      'content-type': 'application/problem+json',
      'x-gw-error': problem.code,
      ...problem.headers,
    }
    return reply.code(problem.status).headers(head).send(problem.body)
  })
  app.setNotFoundHandler(() => {
    throw new ControlProblem('GW_CONTROL_NOT_FOUND', 'unknown path; GET /v1/openapi.json lists all paths')
  })
  await app.register(swagger, { openapi: OPENAPI })
  app.get('/healthz', endpoint('open', { summary: 'Liveness' }), async () => ({ status: 'ok' }))
  app.get('/readyz', endpoint('open', { summary: 'Readiness: the store is available' }), async () => {
    await backend.log.read()
    return { status: 'ok' }
  })
  app.get('/v1/openapi.json', endpoint('viewer', { summary: 'This document' }), async () => app.swagger())
  for (const register of ROUTES) register(app, backend)
  addSessionRoutes(app, options)
  addDashboard(app)
  await app.ready()
  return app
}

const OPENAPI = {
  openapi: '3.1.0',
  info: {
    title: 'Sluice controller API',
    version: '1',
    description:
      'Deploys bundles to groups of gateways. Send `Authorization: Bearer TOKEN`. Roles: viewer can read, deployer can ' +
      'also deploy and roll back, admin can also change tokens.',
  },
  components: { securitySchemes: { token: { type: 'http' as const, scheme: 'bearer' } } },
  security: [{ token: [] }],
}

/** Serves the files of the dashboard. */
function addDashboard(app: FastifyInstance): void {
  const serve = uiServer('control')
  for (const path of ['/ui', '/ui/*'])
    app.get(path, { config: { access: 'open' }, schema: { hide: true } }, async ({ url, headers }, reply) => {
      const answer = serve(url.replace(/\?.*$/, ''), headers['if-none-match'] ?? '')
      if (answer === null)
        throw new ControlProblem('GW_CONTROL_NOT_FOUND', 'the dashboard has no such file; open /ui/')
      return reply.code(answer.status).headers(answer.headers).send(answer.body)
    })
}

/** Requests are validated strictly. Only queries and paths, which are texts, are converted to numbers. */
function useSchemas(app: FastifyInstance): void {
  const strict = new Ajv({ strict: true, useDefaults: true, allErrors: false })
  const converting = new Ajv({ strict: true, useDefaults: true, coerceTypes: true })
  app.setValidatorCompiler(({ schema, httpPart }) =>
    (httpPart === 'body' ? strict : converting).compile(schema as object),
  )
  app.setSerializerCompiler(() => (value) => JSON.stringify(value))
}

/** Authenticates and authorizes a request before its body is read. @throws ControlProblem if it is refused */
function admit(request: FastifyRequest, { hosts, authenticator, isSecure }: HttpServerOptions): void {
  const { access = request.is404 ? 'viewer' : 'admin', isForTeams = request.is404 } =
    request.routeOptions.config
  refuseBrowsers(request.headers, hosts, `${isSecure ? 'https' : 'http'}://${request.headers.host}`)
  if (access === 'open') return
  const { authorization = '' } = request.headers
  const sessionId = sessionIdOf(request, isSecure)
  if (sessionId !== '') refuseForgery(request)
  request.caller = authenticator.authenticate({
    address: request.ip,
    authorization,
    sessionId,
    required: access,
  })
  requireRole(request.caller, access)
  if (!isForTeams) requirePart(request.caller, null)
  const { group } = request.params as { readonly group?: string }
  if (group !== undefined) requireGroup(request.caller, group)
}

/**
 * Refuses what web pages could make a browser send, except for those of `ownOrigin`.
 * @throws ControlProblem
 */
export function refuseBrowsers(
  { host, origin }: FastifyRequest['headers'],
  hosts: readonly string[],
  ownOrigin?: string,
): void {
  const objections = hosts.map((name) => browserObjection({ host, origin }, name, ownOrigin))
  if (objections.includes(null)) return
  if (objections.includes('origin'))
    throw new ControlProblem('GW_CONTROL_ORIGIN_REFUSED', 'the request comes from a web page')
  throw new ControlProblem(
    'GW_CONTROL_HOST_REFUSED',
    'the Host header is neither an IP address nor a name of the controller; add the name to its options',
  )
}

/** Returns the verified client certificate of a connection, or null. */
export function clientCertificate(socket: Socket): PeerCertificate | null {
  return socket instanceof TLSSocket && socket.authorized ? socket.getPeerCertificate() : null
}

const CODES: Readonly<Record<string, ControlErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'GW_CONTROL_BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'GW_CONTROL_TYPE_NOT_SUPPORTED',
}

function problemOf(error: FastifyError, onError: (error: unknown) => void): ControlProblem {
  if (error instanceof ControlProblem) return error
  if (error instanceof StoreUnavailable)
    return new ControlProblem('GW_CONTROL_STORE_UNAVAILABLE', `the store is unavailable: ${error.message}`)
  const { statusCode = 500, code, message } = error
  if (error.validation !== undefined || statusCode < 500)
    return new ControlProblem(CODES[code] ?? 'GW_CONTROL_BAD_REQUEST', message || STATUS_CODES[statusCode]!)
  onError(error)
  return new ControlProblem('GW_CONTROL_INTERNAL', 'the controller failed; its operation log has the details')
}
