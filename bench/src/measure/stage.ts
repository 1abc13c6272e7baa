import { join } from 'node:path'
import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { type LogTarget, type RunningGateway, scenarioWish, startGateway } from '../contestant/gateway.js'
import { startOrigin } from '../contestant/origin.js'
import { startPeer } from '../contestant/peers.js'
import type { RunningServer, Seat } from '../contestant/running-server.js'
import { checkTarget } from '../contestant/target.js'
import type { PeerName, Target } from '../model/run.js'
import type { Scenario } from '../model/scenario.js'
import { OURS, TARGET } from '../report/rivals.js'
import type { CoreLayout } from './cores.js'
import { LogAudit } from './log-audit.js'
import type { Contestant } from './repetition.js'

/** Everything that runs for one scenario. */
export interface Stage {
  readonly scenario: Scenario
  readonly layout: CoreLayout
  readonly origin: RunningServer
  /** The gateway, or the target, first. */
  readonly contestants: readonly Contestant[]
  /** Null: no traffic log is measured. */
  readonly audit: LogAudit | null
  /** Stops all of it. */
  close(): Promise<void>
}

/** What a stage is made of. */
export interface StageOrder {
  readonly dir: string
  readonly scenario: Scenario
  readonly peers: readonly PeerName[]
  /** Takes part in place of a gateway that is started; null: there is none. */
  readonly target: Target | null
  /** Made before this process was pinned itself, after which it sees its own cores only. */
  readonly layout: CoreLayout
  /** Where the traffic log goes; null when the scenario has none. */
  readonly searchEngine: ElasticsearchNode | null
  /** What each contestant may use of memory; null: as much as there is. */
  readonly memoryBytes: number | null
}

/** Starts origin, gateway and peers. @throws Error when one of them cannot be started; none is left then. */
export async function openStage(order: StageOrder): Promise<Stage> {
  const started: { stop(): Promise<void> }[] = []
  const close = async (): Promise<void> => {
    // The origin last, so that nobody in front of it writes errors while it stops.
    for (const server of started.toReversed()) await server.stop()
  }
  try {
    const { dir, scenario, layout, target, memoryBytes } = order
    const origin = await startOrigin({ dir, cpus: layout.load, cores: layout.loadCores }, scenario)
    started.push(origin)
    const seat: Seat = { dir, cpus: layout.contestant, cores: layout.contestantCores, memoryBytes }
    const contestants: Contestant[] = []
    let audit: LogAudit | null = null
    if (target === null) {
      const log = logTarget(order)
      const gateway = await startGateway(seat, scenarioWish(scenario, origin.url, log))
      started.push(gateway)
      contestants.push(contestantOf(OURS, gateway, { layout, gateway }))
      audit = auditOf(order, gateway, log)
    } else {
      await checkTarget(target)
      contestants.push(strangerOf(target))
    }
    for (const name of peersOf(order)) {
      const server = await startPeer(name, seat, origin.url)
      started.push(server)
      contestants.push(contestantOf(name, server, { layout, gateway: null }))
    }
    return { scenario, layout, origin, contestants, audit, close }
  } catch (error) {
    await close()
    throw error
  }
}

function contestantOf(
  name: string,
  { url, pid, version, memory }: RunningServer,
  { layout, gateway }: { readonly layout: CoreLayout; readonly gateway: RunningGateway | null },
): Contestant {
  return { name, url, pid, cores: layout.contestantCores, version, gateway, memory }
}

/** Nobody here knows what it is, nor how many cores it may use. */
function strangerOf({ origin, pid }: Target): Contestant {
  return { name: TARGET, url: origin, pid, cores: Number.NaN, version: null, gateway: null }
}

/** The peers that can do the same as the gateway in a scenario: they have no traffic log of this kind. */
export function peersOf({ scenario, peers }: Pick<StageOrder, 'scenario' | 'peers'>): readonly PeerName[] {
  return scenario.peers === 'plain-proxy' && scenario.log === 'none' ? peers : []
}

function logTarget({ dir, scenario, searchEngine }: StageOrder): LogTarget | null {
  if (searchEngine === null) return null
  const dataStream = `logs-gateway-${scenario.id}`
  return { url: searchEngine.url, dataStream, spoolDir: join(dir, `spool-${dataStream}`) }
}

function auditOf(
  { searchEngine }: StageOrder,
  gateway: RunningGateway,
  log: LogTarget | null,
): LogAudit | null {
  if (searchEngine === null || log === null) return null
  return new LogAudit(gateway, searchEngine, log.dataStream)
}
