import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LogIdentity } from '@sluice/core'
import type { DocumentDigest } from '../model/machine.js'
import type { Scenario } from '../model/scenario.js'
import { planDigest, portableDigest } from './document-digest.js'
import { freePort } from './free-port.js'
import { type RunningServer, type Seat, startServer } from './running-server.js'

const GW = fileURLToPath(new URL('../../../packages/cli/bin/gw.mjs', import.meta.url))
const GATEWAY_PACKAGE = new URL('../../../packages/gateway/package.json', import.meta.url)
/** More than the connections of any suite: a refusal by a bound would be measured as an answer. */
const CONNECTIONS = 20_000
/** A request waits for as long as it has to. */
export const UNBOUNDED_QUEUE = { maxPending: CONNECTIONS, pendingTimeout: '10m' }

/** A running gateway, with its admin API. */
export interface RunningGateway extends RunningServer {
  /** Whether it has a traffic log that is delivered later than the requests end. */
  readonly hasLog: boolean
  readonly admin: string
  readonly document: DocumentDigest
  /** Resolves when all records of the traffic log are delivered. @throws Error when they are not in time. */
  settled(): Promise<void>
  /** Makes it serve another document, made of the one that it began with. @throws Error when it does not take it. */
  deploy(edit: (document: GatewayDocument) => object): Promise<void>
}

/** What a gateway begins with. */
export interface GatewayDocument extends GatewayWish {
  readonly listeners: readonly [{ readonly address: string; readonly limits: object }]
}

/** Where the traffic log of a gateway goes. */
export interface LogTarget {
  readonly url: string
  readonly dataStream: string
  /** Of this gateway alone. */
  readonly spoolDir: string
}

/** What a gateway is to serve: the parts of its document that differ. YAML-compatible values. */
export interface GatewayWish {
  readonly workers: number
  readonly upstreams: Readonly<Record<string, object>>
  readonly routes: readonly object[]
  readonly log: { readonly sink: 'none' | 'file' | 'elasticsearch' } & Readonly<Record<string, unknown>>
}

/** What a scenario wants of its gateway; `log` is null for none. */
export function scenarioWish(scenario: Scenario, originUrl: string, log: LogTarget | null): GatewayWish {
  return {
    workers: scenario.workers,
    upstreams: { origin: { targets: [originUrl], ...UNBOUNDED_QUEUE, ...connectionsFor(scenario) } },
    routes: scenario.routes,
    log: log === null ? { sink: 'none' } : elasticsearchLog(log),
  }
}

/** Behind a slow origin every client needs a connection of its own, or the bound of the upstream would be measured. */
function connectionsFor({ origin }: Scenario): { readonly connections?: number } {
  return origin.delayMs === 0 ? {} : { connections: CONNECTIONS }
}

/** The log section of a gateway whose traffic log goes to a target. */
export function elasticsearchLog({ url, dataStream, spoolDir }: LogTarget): GatewayWish['log'] {
  const elasticsearch = { nodes: [url], dataStream, replicas: 0, spool: { dir: spoolDir } }
  return { sink: 'elasticsearch', fields: 'standard', elasticsearch }
}

/**
 * Starts a gateway that serves what is wished.
 *
 * @param behind a command that ends as the one that is added to it: it becomes that process
 */
export async function startGateway(
  seat: Seat,
  wish: GatewayWish,
  behind: readonly string[] = [],
): Promise<RunningGateway> {
  const [port, adminPort] = [await freePort(), await freePort()]
  const config = join(seat.dir, `gateway-${port}.yaml`)
  const document: GatewayDocument & Readonly<Record<string, unknown>> = {
    version: 1,
    listeners: [
      {
        address: `127.0.0.1:${port}`,
        limits: { connections: CONNECTIONS, connectionsPerClient: CONNECTIONS },
      },
    ],
    admin: { address: `127.0.0.1:${adminPort}` },
    ...wish,
    drain: { delay: '0s', timeout: '2s' },
  }
  // JSON is YAML, and needs no care with quotes.
  const text = JSON.stringify(document, null, 2)
  await writeFile(config, text)
  const admin = `http://127.0.0.1:${adminPort}`
  const data = join(seat.dir, `data-${port}`)
  const server = await startServer({
    name: 'sluice',
    version: gatewayVersion(),
    port,
    seat,
    command: [...behind, process.execPath, GW, 'start', '-c', config, '--data-dir', data],
    isReady: () => isReady(admin),
  })
  const digest = { sha256: portableDigest(text, seat.dir), plan: await planDigest(admin) }
  const hasLog = wish.log.sink !== 'none'
  return {
    ...{ ...server, admin, document: digest, hasLog, settled: () => settled(admin) },
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
  if (!answer.ok) throw new Error(`the gateway did not take a document: ${answer.status} ${text}`)
}

/** The version of the gateway in this repository. */
export function gatewayVersion(): string {
  const { version } = JSON.parse(readFileSync(GATEWAY_PACKAGE, 'utf8')) as { readonly version: string }
  return version
}

/** What has become of the records of a gateway's traffic log. @throws Error when it does not answer in time */
export async function logIdentity(admin: string, answerMs = ANSWER_MS): Promise<LogIdentity> {
  const answer = await fetch(`${admin}/v1/log`, { signal: AbortSignal.timeout(answerMs) })
  return (await answer.json()) as LogIdentity
}

/** Whether it serves; one that does not say so in time is asked again. */
export async function isReady(admin: string, answerMs = READY_MS): Promise<boolean> {
  try {
    return (await fetch(`${admin}/readyz`, { signal: AbortSignal.timeout(answerMs) })).ok
  } catch {
    return false
  }
}

const ANSWER_MS = 30_000
const READY_MS = 5000
const SETTLE_MS = 120_000
const DEPLOY_MS = 120_000
/** The numbers come with heartbeats, so the first look waits for one that knows of the last request. */
const HEARTBEAT_MS = 700

async function settled(admin: string): Promise<void> {
  const giveUpMono = performance.now() + SETTLE_MS
  while (performance.now() < giveUpMono) {
    await new Promise((resolve) => setTimeout(resolve, HEARTBEAT_MS))
    const { onDisk, inMemory } = await logIdentity(admin)
    if (onDisk + inMemory === 0) return
  }
  throw new Error(`the traffic log was not delivered within ${SETTLE_MS / 1000} s`)
}
