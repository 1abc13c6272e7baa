import type { AddressInfo } from 'node:net'
import { isLoopback } from '@sluice/config'
import { readCertificates, readTlsFiles } from '@sluice/core'
import { ControllerCore, errorFields } from './deploy/controller-core.js'
import type { Clock } from './deploy/member-session.js'
import { createFirstToken } from './first-token.js'
import { type OperationLog, stderrLog } from './operation-log.js'
import { Authenticator } from './server/access.js'
import { createHttpServer } from './server/http-server.js'
import { MemberSocket } from './server/member-socket.js'
import { OidcLogin, type OidcOptions } from './server/oidc-login.js'
import { openStore } from './store/open-store.js'
import { DocumentValidator } from './validation/document-validator.js'

/** Options of a controller. */
export interface ControllerOptions {
  /** Folder, or URL of a PostgreSQL database (`postgres://…`). */
  readonly store: string
  readonly host: string
  /** Port; 0 for any. */
  readonly port: number
  /** Certificate and key files, and a file of authorities that sign the certificates of gateways. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string; readonly clientCaFile?: string }
  /** True if a proxy terminates TLS. Otherwise plain HTTP is only allowed on loopback. */
  readonly isBehindProxy?: boolean
  /** Names under which clients reach the controller, besides addresses, `localhost` and `host`. */
  readonly hosts?: readonly string[]
  /** File for the first admin token. */
  readonly adminTokenFile: string
  /** Number of committed deploys per group whose bundles are kept. Default: 100. */
  readonly keepDeploys?: number
  /** Maximum number of connected gateways. Default: 2000. */
  readonly maxMembers?: number
  /** Maximum number of known gateways per token or certificate. Default: 500. */
  readonly maxMembersPerToken?: number
  /** Login of people. Default: tokens only. */
  readonly oidc?: OidcOptions
  /** Default: JSON lines on stderr. */
  readonly log?: OperationLog
}

/** A running controller. */
export interface Controller {
  /** Base URL of the API. */
  readonly url: string
  close(): Promise<void>
}

const SYSTEM_CLOCK: Clock = { wallMs: Date.now, steadyMs: () => performance.now() }
/** Interval for deadlines, retries and heartbeats, in milliseconds. */
const TICK_MS = 250
/** Connections for clients of the API, in addition to those of members. */
const API_CONNECTIONS = 256

/** Starts a controller. @throws Error if the options are unsafe, the store is unavailable or the address is in use */
export async function startController(options: ControllerOptions): Promise<Controller> {
  const {
    host,
    port,
    isBehindProxy = false,
    hosts = [],
    maxMembers = 2000,
    maxMembersPerToken = 500,
    log: operationLog = stderrLog(),
  } = options
  if (options.tls === undefined && !isBehindProxy && !isLoopback(host))
    throw new Error(`${host} is not loopback; set a certificate, or declare a proxy that terminates TLS`)
  const tls = readTls(options.tls)
  const oidc = options.oidc === undefined ? null : new OidcLogin(options.oidc)
  const store = await openStore(options.store)
  try {
    const core = new ControllerCore({
      ...{ store, clock: SYSTEM_CLOCK, keepDeploys: options.keepDeploys ?? 100 },
      onEvent: (level, event, fields) => operationLog[level](event, fields),
    })
    await core.start()
    const timer = setInterval(() => core.tick(), TICK_MS).unref()
    const { log, members, fleet } = core
    const authenticator = new Authenticator(() => log.state)
    if (await createFirstToken(log, options.adminTokenFile))
      operationLog.info('token.created', { file: options.adminTokenFile, role: 'admin' })
    const onEvent = (event: string, fields: object): void => operationLog.info(event, { ...fields })
    const onError = (error: unknown): void => operationLog.error('api.failed', errorFields(error))
    const validator = new DocumentValidator()
    const backend = { ...core, store, log, validator }
    const isSecure = tls !== null || isBehindProxy
    const shared = { authenticator, hosts: [host, ...hosts], onEvent }
    const app = await createHttpServer({ ...shared, backend, tls, isSecure, oidc, onError })
    const limits = { maxMembers, maxMembersPerToken }
    const socket = new MemberSocket({ ...shared, ...limits, members, fleet, log, store: store.id })
    socket.attach(app.server)
    app.server.maxConnections = maxMembers + API_CONNECTIONS
    const close = async (): Promise<void> => {
      clearInterval(timer)
      validator.close()
      await core.close()
      socket.close()
      await app.close()
      await store.close()
    }
    try {
      await app.listen({ host, port })
    } catch (error) {
      await close()
      throw error
    }
    const bound = (app.server.address() as AddressInfo).port
    const url = `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${bound}`
    operationLog.info('control.started', { url, controller: core.id, store: store.id })
    return { url, close }
  } catch (error) {
    await store.close().catch(() => {})
    throw error
  }
}

function readTls(tls: ControllerOptions['tls']) {
  if (tls === undefined) return null
  const { cert, key } = readTlsFiles(tls)
  const { clientCaFile } = tls
  const ca = clientCaFile === undefined ? {} : { ca: readCertificates(clientCaFile, 'tls.clientCaFile') }
  return { cert: cert!, key: key!, ...ca }
}
