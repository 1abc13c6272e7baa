import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogIdentity } from '@sluice/core'
import type { Scenario } from '../model/scenario.js'
import { freePort, LOOPBACK } from '../process/port.js'
import { type Placement, type RunningServer, startServer } from '../process/running-server.js'
import { PROBE_DIR_ENV } from './gc-probe.js'

const resolve = createRequire(import.meta.url).resolve
/** Program of the gateway. */
export const GW = join(dirname(resolve('@sluice/cli/package.json')), 'bin/gw.mjs')
/** More than the connections of any suite. A refusal by a limit would be measured as a response. */
export const CONNECTIONS = 20_000
/** Queue settings with which a request waits as long as necessary. */
export const UNBOUNDED_QUEUE = { maxPending: CONNECTIONS, pendingTimeout: '10m' }
const ANSWER_MS = 30_000
const SETTLE_MS = 120_000
const DEPLOY_MS = 120_000
/** Interval of heartbeats with margin, in milliseconds. Numbers arrive with heartbeats. */
export const HEARTBEAT_MS = 700

/** A running gateway with its admin API. */
export interface RunningGateway extends RunningServer {
  /** True if log records are delivered after the requests end. */
  readonly hasLog: boolean
  readonly admin: string
  /** Folder for reports of garbage collections. Missing without the probe. */
  readonly probeDir?: string | undefined
  /** SHA-256 of its document without ports and folders. */
  readonly digest: string
  /** Resolves when all log records are delivered. @throws Error if they are not delivered in time. */
  settled(): Promise<void>
  /** Deploys a modified copy of the initial document. @throws Error if the deploy is refused. */
  deploy(edit: (document: GatewayDocument) => object): Promise<void>
}

/** Parts of the document that differ between scenarios, as YAML-compatible values. */
export interface GatewayConfig {
  readonly workers: number
  readonly upstreams: Readonly<Record<string, object>>
  readonly routes: readonly object[]
  /** Engine of the listener; default `uws`. */
  readonly engine?: 'node' | undefined
  readonly log: { readonly sink: 'none' | 'elasticsearch' } & Readonly<Record<string, unknown>>
}

/** Initial document of a gateway. */
export interface GatewayDocument extends GatewayConfig {
  readonly listeners: readonly [
    { readonly address: string; readonly engine?: 'node' | undefined; readonly limits: object },
  ]
}

/** Destination of a gateway's traffic log. */
export interface LogOutput {
  readonly url: string
  readonly dataStream: string
  /** Spool directory of this gateway only. */
  readonly spoolDir: string
}

/** Returns the configuration for a scenario. `log` is null for none. */
export function scenarioConfig(scenario: Scenario, originUrl: string, log: LogOutput | null): GatewayConfig {
  // With a slow origin every client needs a connection, or the upstream limit would be measured.
  const connections = scenario.origin.delayMs === 0 ? {} : { connections: CONNECTIONS }
  return {
    workers: scenario.workers,
    upstreams: { origin: { targets: [originUrl], ...UNBOUNDED_QUEUE, ...connections } },
    routes: scenario.routes,
    engine: scenario.engine,
    log: logConfig(log),
  }
}

/** Returns the log section for a destination, or for none. */
export function logConfig(log: LogOutput | null): GatewayConfig['log'] {
  if (log === null) return { sink: 'none' }
  const elasticsearch = {
    nodes: [log.url],
    dataStream: log.dataStream,
    replicas: 0,
    spool: { dir: log.spoolDir },
  }
  return { sink: 'elasticsearch', fields: 'standard', elasticsearch }
}

interface WrittenDocument {
  readonly document: GatewayDocument
  readonly text: string
  /** See `RunningGateway`. */
  readonly digest: string
}

/** Returns the document of a gateway on the given ports. */
export function documentOf(
  { dir, host = LOOPBACK }: Placement,
  { engine, ...config }: GatewayConfig,
  { port, adminPort }: { readonly port: number; readonly adminPort: number },
): WrittenDocument {
  const limits = { connections: CONNECTIONS, connectionsPerClient: CONNECTIONS }
  const document: GatewayDocument & Readonly<Record<string, unknown>> = {
    version: 1,
    listeners: [{ address: `${host}:${port}`, engine, limits }],
    admin: { address: `127.0.0.1:${adminPort}` },
    ...config,
    drain: { delay: '0s', timeout: '30s' },
  }
  // JSON is valid YAML and needs no quoting rules.
  const text = JSON.stringify(document, null, 2)
  const portable = text.replaceAll(dir, '').replace(/\b\d+\.\d+\.\d+\.\d+:\d+/g, '127.0.0.1')
  return { document, text, digest: createHash('sha256').update(portable).digest('hex') }
}

/** Starts a gateway. @param prefix command that starts the gateway in a separate namespace */
export async function startGateway(
  placement: Placement,
  config: GatewayConfig,
  prefix: readonly string[] = [],
): Promise<RunningGateway> {
  const [port, adminPort] = [await freePort(), await freePort()]
  const file = join(placement.dir, `gateway-${port}.yaml`)
  const { document, text, digest } = documentOf(placement, config, { port, adminPort })
  await writeFile(file, text)
  const admin = `http://127.0.0.1:${adminPort}`
  const data = join(placement.dir, `data-${port}`)
  const server = await startServer({
    name: 'sluice',
    version: gatewayVersion(),
    port,
    placement,
    command: [...prefix, process.execPath, GW, 'start', '-c', file, '--data-dir', data],
    isReady: () => isReady(admin),
  })
  return {
    ...{ ...server, admin, hasLog: config.log.sink !== 'none', digest },
    probeDir: placement.env?.[PROBE_DIR_ENV],
    settled: async () => {
      if ((await delivery(admin, SETTLE_MS)) === null)
        throw new Error(`the traffic log was not delivered within ${SETTLE_MS / 1000} s`)
    },
    deploy: (edit) => deploy(admin, edit(document)),
  }
}

async function deploy(admin: string, document: object): Promise<void> {
  const answer = await fetch(`${admin}/v1/config`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(document),
    signal: AbortSignal.timeout(DEPLOY_MS),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`the gateway did not accept a document: ${answer.status} ${text}`)
}

/** Version of the measured gateway. */
export function gatewayVersion(): string {
  const file = resolve('@sluice/cli/package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}

/** Returns the state of a gateway's log records. @throws Error if it does not respond in time */
export async function logIdentity(admin: string): Promise<LogIdentity> {
  return (await (await asked(`${admin}/v1/log`)).json()) as LogIdentity
}

/** Returns the seconds until no record is waiting, or null if some wait until the end. */
export async function delivery(admin: string, mostMs: number): Promise<number | null> {
  const startMono = performance.now()
  while (performance.now() - startMono < mostMs) {
    await sleep(HEARTBEAT_MS)
    const { onDisk, inMemory } = await logIdentity(admin)
    if (onDisk + inMemory === 0) return (performance.now() - startMono) / 1000
  }
  return null
}

/** Returns the serving workers of a gateway. */
export async function gatewayWorkers(
  admin: string,
): Promise<readonly { readonly id: number; readonly pid: number }[]> {
  const { workers } = (await (await asked(`${admin}/v1/status`)).json()) as {
    readonly workers: readonly { readonly id: number; readonly pid: number | null; readonly state: string }[]
  }
  return workers.flatMap(({ id, pid, state }) => (pid === null || state !== 'ready' ? [] : [{ id, pid }]))
}

/** Returns the current metrics of a gateway, from `name{labels}` to value. */
export async function scrape(admin: string): Promise<ReadonlyMap<string, number>> {
  const series = new Map<string, number>()
  for (const line of (await (await asked(`${admin}/metrics`)).text()).split('\n')) {
    const gap = line.lastIndexOf(' ')
    if (gap > 0 && !line.startsWith('#')) series.set(line.slice(0, gap), Number(line.slice(gap + 1)))
  }
  return series
}

/** True if the gateway serves. Retried if it does not respond in time. */
async function isReady(admin: string): Promise<boolean> {
  return asked(`${admin}/readyz`, 5000).then(
    ({ ok }) => ok,
    () => false,
  )
}

function asked(url: string, answerMs = ANSWER_MS): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(answerMs) })
}
