import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { freePort } from '../contestant/free-port.js'
import { elasticsearchLog, startGateway, UNBOUNDED_QUEUE } from '../contestant/gateway.js'
import { startSearchEngine } from '../contestant/search-engine.js'
import { type SteeredOrigin, startSteeredOrigin } from '../contestant/steered-origin.js'
import type { CoreLayout } from '../measure/cores.js'
import type { TrialPlan } from '../model/trial.js'
import { PLAIN_ROUTES } from '../suite/scenario-parts.js'
import type { StageWish, TrialStage } from './deed.js'
import { OTHER_ADDRESS } from './deeds/move.js'
import { NO_NAMES, OwnNames, UPSTREAM_NAME } from './own-names.js'

const ADDRESS = '127.0.0.1'

/** A node of Elasticsearch that may be another one after a trial. */
export class TrialNode {
  node: ElasticsearchNode
  readonly #dir: string
  readonly #cpus: string | null

  private constructor(node: ElasticsearchNode, dir: string, cpus: string | null) {
    this.node = node
    this.#dir = dir
    this.#cpus = cpus
  }

  static async start(dir: string, cpus: string | null): Promise<TrialNode> {
    return new TrialNode(await startSearchEngine(dir, cpus), dir, cpus)
  }

  /** Has one that answers, whatever the trial before has left. @throws Error when it cannot be started */
  async revive(): Promise<void> {
    this.node.resume()
    const answers = await this.node.request('GET', '/').then(
      () => true,
      () => false,
    )
    if (answers) return
    await this.node.kill()
    await this.restart()
  }

  /** One that has ended, with its data. */
  async restart(): Promise<void> {
    this.node = await startSearchEngine(this.#dir, this.#cpus, this.node)
  }
}

/** What a stage is made of. */
export interface StageOrder {
  readonly dir: string
  readonly plan: TrialPlan
  readonly wish: StageWish
  /** Made before this process was pinned itself, after which it sees its own cores only. */
  readonly layout: CoreLayout
  /** Null: without a traffic log. */
  readonly searchEngine: TrialNode | null
  readonly signal: AbortSignal
}

/** Everything that runs for one trial. */
export interface OpenStage extends TrialStage {
  /** Where the records go. */
  readonly stream: string
  readonly spoolDir: string
  /** Stops all of it but the node. */
  close(): Promise<void>
}

/** Starts origins and gateway. @throws Error when one of them cannot be started; none is left then. */
export async function openTrialStage(order: StageOrder): Promise<OpenStage> {
  const dir = join(order.dir, order.plan.id)
  mkdirSync(dir, { recursive: true })
  const started: { stop(): Promise<void> }[] = []
  // The origin last, so that nobody in front of it writes errors while it stops.
  const close = (): Promise<void> => stopAll(started.toReversed())
  try {
    return await openIn(dir, order, started, close)
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
}

/** @throws the first Error of those that could not be stopped, once all others are */
async function stopAll(servers: readonly { stop(): Promise<void> }[]): Promise<void> {
  const errors: unknown[] = []
  for (const server of servers) await server.stop().catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw errors[0]
}

async function openIn(
  dir: string,
  order: StageOrder,
  started: { stop(): Promise<void> }[],
  close: () => Promise<void>,
): Promise<OpenStage> {
  const { plan, wish, searchEngine, signal } = order
  const port = await freePort()
  const originAt = async (host: string): Promise<SteeredOrigin> => {
    const origin = await startSteeredOrigin(seatOf(dir, order, 'load'), host, port)
    started.push(origin)
    return origin
  }
  const origin = await originAt(ADDRESS)
  const otherOrigin = wish.hasOtherOrigin === true ? await originAt(OTHER_ADDRESS) : null
  const names = wish.isNamed === true ? OwnNames.in(dir, ADDRESS) : null
  if (wish.isNamed === true && names === null) throw new Error(NO_NAMES)
  const stream = `logs-gateway-trial-${plan.id}`
  const spoolDir = join(dir, 'spool')
  const gateway = await startGateway(
    seatOf(dir, order, 'contestant'),
    {
      workers: plan.workers,
      upstreams: {
        origin: upstreamOf(names === null ? origin.url : `http://${UPSTREAM_NAME}:${port}`, wish),
      },
      routes: PLAIN_ROUTES,
      log: logOf(order, stream, spoolDir),
    },
    names?.behind ?? [],
  )
  started.push(gateway)
  return {
    ...{ gateway, origin, otherOrigin, workers: plan.workers, signal, stream, spoolDir, close },
    // A getter, because the node after a restart is another one.
    get node() {
      return searchEngine?.node ?? null
    },
    restartNode: async () => searchEngine?.restart(),
    rename: (address) => names?.rename(address),
  }
}

function seatOf(dir: string, { layout }: StageOrder, side: 'load' | 'contestant') {
  return side === 'load'
    ? { dir, cpus: layout.load, cores: 1 }
    : { dir, cpus: layout.contestant, cores: layout.contestantCores }
}

/** A refusal by a bound is none of what is tried. */
function upstreamOf(target: string, { upstream = {} }: StageWish): object {
  return { targets: [target], ...UNBOUNDED_QUEUE, ...upstream }
}

function logOf(
  { searchEngine }: StageOrder,
  dataStream: string,
  spoolDir: string,
): Parameters<typeof startGateway>[1]['log'] {
  if (searchEngine === null) return { sink: 'none' }
  return elasticsearchLog({ url: searchEngine.node.url, dataStream, spoolDir })
}
