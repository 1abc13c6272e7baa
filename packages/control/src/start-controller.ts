import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { isLoopback } from '@sluice/config'
import { Bundles } from './deploy/bundles.js'
import { ConnectedMembers } from './deploy/connected-members.js'
import { Coordinator } from './deploy/coordinator.js'
import { FleetReports } from './deploy/fleet-reports.js'
import type { Clock } from './deploy/member-session.js'
import { createFirstToken } from './first-token.js'
import { type OperationLog, stderrLog } from './operation-log.js'
import { Authenticator } from './server/access.js'
import { createHttpServer } from './server/http-server.js'
import { MemberSocket } from './server/member-socket.js'
import { ControlLog } from './state/control-log.js'
import { keptBundles } from './state/control-state.js'
import type { ControlStore } from './store/control-store.js'
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
/** Minimum age of a chunk that is deleted, in milliseconds. An upload may take this long. */
const GARBAGE_AGE_MS = 3_600_000
const GARBAGE_MS = 600_000

/** Starts a controller. @throws Error if the options are unsafe, the store is unavailable or the address is in use */
export async function startController(options: ControllerOptions): Promise<Controller> {
  const {
    host,
    port,
    isBehindProxy = false,
    hosts = [],
    maxMembers = 2000,
    log: operationLog = stderrLog(),
  } = options
  if (options.tls === undefined && !isBehindProxy && !isLoopback(host))
    throw new Error(`${host} is not loopback; set a certificate, or declare a proxy that terminates TLS`)
  const tls = await readTls(options.tls)
  const store = await openStore(options.store)
  try {
    const core = await startCore(store, options.keepDeploys ?? 100, operationLog)
    const authenticator = new Authenticator(() => core.backend.log.state)
    if (await createFirstToken(core.backend.log, options.adminTokenFile))
      operationLog.info('token.created', { file: options.adminTokenFile, role: 'admin' })
    const names = [host, ...hosts]
    const onError = (error: unknown): void => operationLog.error('api.failed', errorFields(error))
    const app = await createHttpServer({ backend: core.backend, authenticator, hosts: names, tls, onError })
    const { log } = core.backend
    const socket = new MemberSocket({
      ...{ members: core.members, log, authenticator, hosts: names, store: store.id, maxMembers },
      onEvent: (event, fields) => operationLog.info(event, fields),
    })
    socket.attach(app.server)
    app.server.maxConnections = maxMembers + API_CONNECTIONS
    const close = async (): Promise<void> => {
      await core.stop()
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

/** Starts everything except the server. */
async function startCore(store: ControlStore, keepDeploys: number, operationLog: OperationLog) {
  const id = randomUUID()
  const clock = SYSTEM_CLOCK
  const onStoreProblem = storeProblems(operationLog)
  const onProblem = (event: string, error: unknown): void => operationLog.warn(event, errorFields(error))
  const log = new ControlLog({ store, controller: id, now: clock.wallMs, onProblem: onStoreProblem })
  const bundles = new Bundles(store)
  const fleet: FleetReports = new FleetReports({
    ...{ store, controller: id, clock, onProblem: onStoreProblem },
    own: () => members.reports(),
  })
  const members: ConnectedMembers = new ConnectedMembers({
    ...{ log, bundles, clock, controller: id, onProblem },
    onReport: (report, isUrgent) => fleet.add(report, isUrgent),
  })
  const collect = garbageCollector(() =>
    store.collectGarbage(keptBundles(log.state, keepDeploys), GARBAGE_AGE_MS),
  )
  let collected: Promise<void> = Promise.resolve()
  const coordinator = new Coordinator({
    ...{ log, fleet, clock, controller: id, onProblem },
    onDecision: ({ result, group, deploy, digest, reasons }) => {
      operationLog.info(`deploy.${result}`, { group, deploy, digest, reasons })
      collected = collect().catch(onStoreProblem)
    },
  })
  await log.start()
  await fleet.send()
  await fleet.read()
  const tick = (): void => {
    fleet.tick().catch(onStoreProblem)
    members.reconcile()
    coordinator.advance()
  }
  const timer = setInterval(tick, TICK_MS).unref()
  const stop = async (): Promise<void> => {
    clearInterval(timer)
    log.close()
    fleet.close()
    members.close()
    await collected
  }
  return {
    id,
    members,
    stop,
    backend: { log, store, bundles, fleet, coordinator, validator: new DocumentValidator() },
  }
}

async function readTls(tls: ControllerOptions['tls']) {
  if (tls === undefined) return null
  const [cert, key] = await Promise.all([readFile(tls.certFile), readFile(tls.keyFile)])
  return tls.clientCaFile === undefined ? { cert, key } : { cert, key, ca: await readFile(tls.clientCaFile) }
}

/** Reports each outage of the store once, and its end. */
function storeProblems(log: OperationLog): (problem: unknown) => void {
  let isDown = false
  return (problem) => {
    if (problem !== null && !isDown) log.error('store.unavailable', errorFields(problem))
    if (problem === null && isDown) log.info('store.available')
    isDown = problem !== null
  }
}

/** Returns a function that collects garbage from time to time. */
function garbageCollector(collect: () => Promise<number>): () => Promise<void> {
  let lastMs = Number.NEGATIVE_INFINITY
  return async () => {
    if (performance.now() - lastMs < GARBAGE_MS) return
    lastMs = performance.now()
    await collect()
  }
}

function errorFields(error: unknown): Readonly<Record<string, unknown>> {
  return error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) }
}
