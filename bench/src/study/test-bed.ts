import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type ElasticsearchNode, startElasticsearch } from '@sluice/logger/testing/elasticsearch'
import { freePort } from '../contestant/free-port.js'
import {
  elasticsearchLog,
  type GatewayWish,
  type RunningGateway,
  startGateway,
} from '../contestant/gateway.js'
import { startOrigin, startOwnOrigin } from '../contestant/origin.js'
import { startPeer } from '../contestant/peers.js'
import type { RunningServer } from '../contestant/running-server.js'
import { temporaryFolder } from '../last-will.js'

/** The processor of what is measured, and that of load and origin. */
export const PROXY_CPU = '0'
export const LOAD_CPU = '1'

/** nginx answers these many bytes to every request, whatever its body. */
const ORIGIN = { answer: 'fixed', bytes: 128, delayMs: 0 } as const
const CALL = { method: 'GET', path: '/', headers: {}, body: null } as const

/** How a gateway of a study differs from one worker on the core of what is measured, without a traffic log. */
export interface BedGateway {
  readonly log?: GatewayWish['log']
  readonly workers?: number
  /** In place of the usual ones; their upstream is `origin`. */
  readonly routes?: readonly object[]
  /** Null: wherever the system puts it. */
  readonly cpus?: string | null
  /** A command that starts it, in a surrounding of its own. */
  readonly behind?: readonly string[]
}

/**
 * Where a study's node of Elasticsearch runs: on all cores in the time that others leave, or on a core of its own while
 * everything else shares the other one. The second comes nearer to a node on another machine.
 */
export type NodeSeat = 'aside' | 'apart'

/** The servers of a study, on one core each side, and the folder of their files. */
export class TestBed {
  readonly #folder = temporaryFolder('sluice-study-')
  readonly #nodeSeat: NodeSeat
  readonly #servers: RunningServer[] = []
  readonly #nodes: ElasticsearchNode[] = []
  readonly #spoolDir = join(this.dir, 'spool')

  constructor(nodeSeat: NodeSeat) {
    this.#nodeSeat = nodeSeat
    if (nodeSeat === 'apart') pin(process.pid, PROXY_CPU)
  }

  get dir(): string {
    return this.#folder.path
  }

  /** The core of load and origin. */
  get #loadCpu(): string {
    return this.#nodeSeat === 'apart' ? PROXY_CPU : LOAD_CPU
  }

  /** nginx as the origin. */
  origin(): Promise<RunningServer> {
    const seat = { dir: this.dir, cpus: this.#loadCpu, cores: 1 }
    return this.#kept(startOrigin(seat, { origin: ORIGIN, call: CALL }))
  }

  /** An origin that reads whole bodies before it answers; nginx answers before. */
  async sink(): Promise<RunningServer> {
    const seat = { dir: this.dir, cpus: this.#loadCpu, cores: 1 }
    return this.#kept(startOwnOrigin(seat, await freePort(), ORIGIN))
  }

  /** nginx as the peer. */
  peer(originUrl: string): Promise<RunningServer> {
    return this.#kept(startPeer('nginx', { dir: this.dir, cpus: PROXY_CPU, cores: 1 }, originUrl))
  }

  /**
   * The gateway: `/set` carries the header policy both ways, `/undici` goes over the general transport.
   */
  gateway(originUrl: string, wish: BedGateway = {}): Promise<RunningGateway> {
    const { log = { sink: 'none' }, workers = 1, cpus = PROXY_CPU, routes = ROUTES, behind = [] } = wish
    const targets = [originUrl]
    const upstreams = { origin: { targets }, general: { targets, transport: 'undici' } }
    const seat = { dir: this.dir, cpus, cores: workers }
    return this.#kept(startGateway(seat, { workers, upstreams, routes, log }, behind))
  }

  /** A node with the JVM as it would be in production. */
  elasticsearch(): Promise<ElasticsearchNode> {
    return this.#node({ standsAside: this.#nodeSeat === 'aside' })
  }

  /** A node that was ended, on its port and with its data, and from now on with its share of its processors. */
  elasticsearchAgain({ port }: ElasticsearchNode): Promise<ElasticsearchNode> {
    return this.#node({ port })
  }

  async #node(options: { port?: number; standsAside?: boolean }): Promise<ElasticsearchNode> {
    const dir = join(this.dir, 'elasticsearch')
    const seat = this.#nodeSeat === 'apart' ? { cpus: LOAD_CPU } : {}
    const node = await startElasticsearch({ dir, isMeasured: true, ...seat, ...options })
    this.#nodes.push(node)
    return node
  }

  /** The log section of a gateway that delivers to a node. */
  logTo(node: ElasticsearchNode, dataStream: string): GatewayWish['log'] {
    return elasticsearchLog({ url: node.url, dataStream, spoolDir: this.#spoolDir })
  }

  /** The command that starts a gateway, for the folder of its spool, which is there then. */
  behind(commandOf: (spoolDir: string) => readonly string[]): readonly string[] {
    mkdirSync(this.#spoolDir)
    return commandOf(this.#spoolDir)
  }

  /** The folder of its spool as a gateway sees it, whose mounts may be its own. */
  spoolOf({ pid }: RunningGateway): string {
    return `/proc/${pid}/root${this.#spoolDir}`
  }

  /** Stops all of it; Elasticsearch last, because gateways still deliver while they stop. */
  async close(): Promise<void> {
    for (const server of [...this.#servers.toReversed(), ...this.#nodes]) await server.stop()
    await this.#folder.remove()
  }

  async #kept<T extends RunningServer>(starting: Promise<T>): Promise<T> {
    const server = await starting
    this.#servers.push(server)
    return server
  }
}

const FIELDS = { request: { set: { 'x-a': '1' } }, response: { set: { 'x-b': '2' } } }
const POLICIES = { policies: [{ use: 'header', with: FIELDS }] }
const ROUTES = [
  { id: 'undici', match: { path: '/undici' }, upstream: 'general' },
  { id: 'plain', match: { path: '/*' }, upstream: 'origin' },
  { id: 'get', match: { path: '/get' }, upstream: 'origin' },
  { id: 'again', match: { path: '/aaa' }, upstream: 'origin' },
  { id: 'set', match: { path: '/set' }, upstream: 'origin', ...POLICIES },
  { id: 'undici-get', match: { path: '/undici/get' }, upstream: 'general' },
  { id: 'undici-again', match: { path: '/undici/aaa' }, upstream: 'general' },
  { id: 'undici-set', match: { path: '/undici/set' }, upstream: 'general', ...POLICIES },
]

/** Keeps all threads of a process on a core. @throws Error when that cannot be done */
function pin(pid: number, cpu: string): void {
  const { status, stderr, error } = spawnSync('taskset', ['-a', '-c', '-p', cpu, String(pid)])
  if (status !== 0) throw new Error(`taskset: ${error?.message ?? String(stderr)}`)
}

/** Runs a study among servers of its own, which end with it, however it ends. */
export async function onTestBed(
  study: (bed: TestBed) => Promise<void>,
  nodeSeat: NodeSeat = 'aside',
): Promise<void> {
  // Servers are in groups of their own, which a Ctrl-C does not reach; they end when this process exits by itself.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)
    process.once(signal, () => process.exit(1))
  const bed = new TestBed(nodeSeat)
  try {
    await study(bed)
  } finally {
    await bed.close()
  }
}
