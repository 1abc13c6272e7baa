import type { SendHandle } from 'node:child_process'
import { constants } from 'node:crypto'
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import { type AddressInfo, type ListenOptions, Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { AdminPlan } from '@sluice/config'
import { browserObjection, cookieName, isForgeable, sessionCookie, sessionIdIn } from '@sluice/core'
import type { AdminBackend } from '../supervise/admin-backend.js'
import { offerSocket, useInherited } from '../supervise/parent/passed-sockets.js'
import { errorFields, type OperationLog } from '../telemetry/operation-log.js'
import { streamTo } from './answer-stream.js'
import { type Admission, type Authenticator, SESSION_MS } from './authenticator.js'
import { Connections } from './connections.js'
import type { AdminCall, CallSession, Endpoint } from './endpoint.js'
import { ENDPOINTS, findEndpoint } from './endpoints.js'
import { type AdminAnswer, problemAnswer } from './problem.js'
import { readBody } from './request-body.js'
import { isUiPath, uiAnswer } from './ui-files.js'

/** Contents of the certificate and key files. */
export interface TlsFiles {
  readonly cert: Buffer
  readonly key: Buffer
}

interface AdminServerOptions {
  readonly plan: AdminPlan
  readonly tls: TlsFiles | null
  readonly backend: AdminBackend
  readonly authenticator: Authenticator
  readonly log: OperationLog
  /** Endpoints served without tokens and for any Host, in place of the admin API. */
  readonly openEndpoints?: readonly Endpoint[]
}

/** Limits for clients that send nothing or too much. The API serves a few tools, not traffic. */
const SERVER_LIMITS = {
  headersTimeout: 5000,
  requestTimeout: 60_000,
  keepAliveTimeout: 5000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16_384,
}
const MAX_CONNECTIONS = 256
const TLS_LIMITS = {
  minVersion: 'TLSv1.2',
  handshakeTimeout: 5000,
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const
/** Maximum body size in bytes, as for a document in a file. 10,000 routes take about 2 MB. */
const MAX_BODY_BYTES = 4 * 1024 * 1024
/** Time in milliseconds for pending responses when the server closes. */
const CLOSE_MS = 5000

/** The admin API on one address. */
export class AdminServer {
  #plan: AdminPlan
  readonly #options: AdminServerOptions
  readonly #server: HttpServer | HttpsServer
  readonly #connections = new Connections(MAX_CONNECTIONS)
  #port = 0
  #isReplaced = false

  constructor(options: AdminServerOptions) {
    this.#plan = options.plan
    this.#options = options
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      void this.#serve(request, response)
    }
    this.#server =
      options.tls === null
        ? createHttpServer(SERVER_LIMITS, listener)
        : createHttpsServer({ ...SERVER_LIMITS, ...TLS_LIMITS, ...options.tls }, listener)
    this.#server.on('connection', (socket: Socket) => this.#connections.add(socket))
  }

  get plan(): AdminPlan {
    return this.#plan
  }

  /** Actual port; 0 before `listen`. */
  get port(): number {
    return this.#port
  }

  /**
   * Starts listening. If the supervisor being replaced listens on this address, it begins when this gateway is ready.
   * @throws Error of the operating system if the address is unavailable.
   */
  async listen(): Promise<void> {
    const { address, host, port } = this.plan
    const name = `${this.#options.openEndpoints === undefined ? 'admin' : 'metrics'} ${address}`
    if (!useInherited(name, (socket) => this.#listenOn(socket)))
      await this.#listenOn({ host, port, exclusive: true })
    offerSocket(name, this.#server)
  }

  async #listenOn(where: ListenOptions | SendHandle): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(where, () => {
        this.#server.off('error', reject)
        resolve()
      })
    })
    this.#server.on('error', (error) => this.#options.log.error('admin.failed', errorFields(error)))
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Uses a plan with the same address, and its certificate for new connections. */
  renew(plan: AdminPlan, tls: TlsFiles | null): void {
    this.#plan = plan
    if (tls !== null && 'setSecureContext' in this.#server)
      this.#server.setSecureContext({ ...TLS_LIMITS, ...tls })
  }

  /**
   * Stops listening at once. Pending responses get a moment to finish.
   * @param isReplaced true if the next version accepts connections. Open ones may then send one more request.
   */
  async close(isReplaced = false): Promise<void> {
    if (isReplaced) {
      this.#isReplaced = true
      // Not `this.#server.close`, which also ends idle connections.
      const ended = new Promise<void>((resolve) => Server.prototype.close.call(this.#server, () => resolve()))
      await Promise.race([ended, delay(CLOSE_MS, undefined, { ref: false })])
    }
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    this.#connections.closeUnasked()
    const timer = setTimeout(() => this.#server.closeAllConnections(), CLOSE_MS)
    await closed
    clearTimeout(timer)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#connections.serve(request, response)
    try {
      const answer = await this.#answer(request)
      this.#send(request, response, answer)
    } catch (error) {
      // A client that disconnects while sending its body is not our fault.
      if (request.errored !== null) return
      this.#options.log.error('admin.failed', { path: request.url, ...errorFields(error) })
      this.#send(request, response, problemAnswer('GW_ADMIN_INTERNAL', 'see the gateway’s operation log'))
    }
  }

  async #answer(request: IncomingMessage): Promise<AdminAnswer> {
    const { host, origin } = request.headers
    const method = request.method ?? ''
    const { openEndpoints, authenticator } = this.#options
    const ownOrigin = this.#hasUi ? `${this.#isSecure ? 'https' : 'http'}://${host}` : undefined
    const objection =
      openEndpoints === undefined ? browserObjection({ host, origin }, this.plan.host, ownOrigin) : null
    if (objection !== null) return browserRefusal(objection, this.plan.host)
    const [path, query] = splitTarget(request.url ?? '/')
    if (this.#hasUi && isUiPath(path)) return uiAnswer(method, path, request.headers['if-none-match'] ?? '')
    const found = findEndpoint(openEndpoints ?? ENDPOINTS, method, path)
    if (!found.ok) return found.answer
    const peer = request.socket.remoteAddress ?? 'unknown'
    const authorization = request.headers.authorization ?? ''
    const sessionId = this.#sessionId(request)
    const isLogin = path === '/v1/session' && method === 'POST'
    if ((isLogin || sessionId !== '') && authorization === '' && isForgeable(method, request.headers))
      return problemAnswer(
        'GW_ADMIN_FORGERY_SUSPECTED',
        'send the header x-sluice-ui: 1, from the same origin',
      )
    const admission = authenticator.admit({ peer, authorization, sessionId }, found.endpoint.access)
    if (!admission.ok) return admission.answer
    if (this.#options.backend.succession.isUpgrading && !['GET', 'HEAD'].includes(method))
      return problemAnswer('GW_ADMIN_BUSY', 'an upgrade is in progress; try again', {
        headers: { 'retry-after': '1' },
      })
    return found.endpoint.answer(this.#call(request, admission, query))
  }

  get #isSecure(): boolean {
    return this.#options.tls !== null
  }

  /** True if the dashboard and its sessions are available. */
  get #hasUi(): boolean {
    return this.plan.ui !== false && this.#options.openEndpoints === undefined
  }

  /** Returns the id in the session cookie; empty if absent, or if no login is required. */
  #sessionId({ headers }: IncomingMessage): string {
    if (!this.#hasUi || !this.#options.authenticator.hasTokens) return ''
    return sessionIdIn(headers.cookie ?? '', cookieName(headers.host ?? '', this.#isSecure))
  }

  #call(
    request: IncomingMessage,
    { actor, role }: Extract<Admission, { readonly ok: true }>,
    query: string,
  ): AdminCall {
    return {
      backend: this.#options.backend,
      actor,
      role,
      query: new URLSearchParams(query),
      session: this.#session(request),
      header: (name) => String(request.headers[name] ?? ''),
      body: (types) => readBody(request, types, MAX_BODY_BYTES),
    }
  }

  #session(request: IncomingMessage): CallSession {
    const { authenticator } = this.#options
    const name = cookieName(request.headers.host ?? '', this.#isSecure)
    const cookieOptions = { isSecure: this.#isSecure, maxAgeMs: SESSION_MS }
    const cookie = (id: string): string => sessionCookie(name, id, cookieOptions)
    return {
      isOn: this.#hasUi,
      isLoginRequired: authenticator.hasTokens,
      open: (token) => {
        authenticator.logout(this.#sessionId(request))
        const peer = request.socket.remoteAddress ?? 'unknown'
        if (!authenticator.hasTokens)
          return { ...authenticator.admit({ peer, authorization: '' }, 'admin'), cookie: null }
        const admission = authenticator.login(peer, token)
        const { sessionId } = admission
        return { ...admission, cookie: sessionId === undefined ? null : cookie(sessionId) }
      },
      close: () => {
        authenticator.logout(this.#sessionId(request))
        return cookie('')
      },
    }
  }

  #send(request: IncomingMessage, response: ServerResponse, answer: AdminAnswer): void {
    if (response.headersSent || response.destroyed) return
    // A body that was not read, for example after a refusal, would be parsed as the next request.
    const isLast = this.#isReplaced || (!request.complete && hasBody(request))
    const close = isLast ? { connection: 'close' } : {}
    response.writeHead(answer.status, {
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...answer.headers,
      ...close,
      ...(answer.status === 304 || answer.stream !== undefined
        ? {}
        : { 'content-length': Buffer.byteLength(answer.body) }),
    })
    if (answer.stream === undefined) response.end(answer.body)
    else streamTo(response, answer.stream)
  }
}

function hasBody(request: IncomingMessage): boolean {
  return (
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
  )
}

function splitTarget(target: string): readonly [path: string, query: string] {
  const mark = target.indexOf('?')
  return mark === -1 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)]
}

/** Refuses a request that a web page could have made a browser send. */
function browserRefusal(field: 'origin' | 'host', configuredHost: string): AdminAnswer {
  if (field === 'host') {
    const detail = `the Host header must be an IP address, localhost or '${configuredHost}'`
    return problemAnswer('GW_ADMIN_HOST_REFUSED', detail)
  }
  return problemAnswer(
    'GW_ADMIN_ORIGIN_REFUSED',
    'requests with an Origin header are refused; use gw or another tool that is not a browser',
  )
}
