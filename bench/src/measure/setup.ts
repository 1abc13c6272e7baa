import { join } from 'node:path'
import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { OURS, type PeerName, TARGET, type Target } from '../model/run.js'
import { type Scenario, TIERS } from '../model/scenario.js'
import type { CoreLayout } from '../process/cores.js'
import { memoryParent } from '../process/memory-group.js'
import { connectFailure } from '../process/port.js'
import { isRunning } from '../process/process-use.js'
import type { RunningServer } from '../process/running-server.js'
import { ServerStack } from '../process/running-server.js'
import { startCacheServer } from '../servers/cache-server.js'
import { scenarioConfig, startGateway } from '../servers/gateway.js'
import { startIdentity } from '../servers/identity.js'
import { startOrigin } from '../servers/origin.js'
import { startPeer } from '../servers/peers.js'
import { hasRedis, redisLoad, startRedis } from '../servers/redis.js'
import { probeEnv } from './gc-figures.js'
import { LogAudit } from './log-audit.js'
import type { SystemUnderTest } from './repetition.js'

/** Everything that runs for one scenario. */
export interface Setup {
  readonly scenario: Scenario
  readonly layout: CoreLayout
  /** Enforced memory limit of each system in bytes, or null. */
  readonly memoryBytes: number | null
  readonly origin: Pick<RunningServer, 'url' | 'version'>
  /** Systems, with the gateway or target first. */
  readonly systems: readonly SystemUnderTest[]
  /** Audit of the traffic log, or null without one. */
  readonly audit: LogAudit | null
  close(): Promise<void>
}

interface SetupOptions {
  readonly dir: string
  readonly scenario: Scenario
  readonly peers: readonly PeerName[]
  /** Server to measure instead of a gateway, or null. */
  readonly target: Target | null
  /** Core layout, determined before this process was pinned. */
  readonly layout: CoreLayout
  /** Node of the traffic log, or null without one. */
  readonly node: ElasticsearchNode | null
  /** Running origin. Without it one is started. */
  readonly origin?: Setup['origin']
  /** Host to listen on, loopback by default. */
  readonly host?: string
}

/** Starts origin, gateway and peers. @throws Error if one cannot start. Nothing is left running then. */
export async function openSetup(options: SetupOptions): Promise<Setup> {
  const { dir, scenario, layout, target, host } = options
  const servers = new ServerStack()
  try {
    const origin =
      options.origin ??
      (await servers.add(startOrigin({ dir, cpus: layout.load, cores: layout.loadCores }, scenario)))
    const limit = TIERS.find(({ tier }) => tier === scenario.tier)?.memoryBytes ?? null
    const memoryBytes = target !== null || memoryParent() === null ? null : limit
    const placement = { dir, host, cpus: layout.system, cores: layout.systemCores, memoryBytes }
    const systems: SystemUnderTest[] = []
    let audit: LogAudit | null = null
    if (scenario.system === 'cache-server') {
      const server = await servers.add(startCacheServer(placement, scenario))
      systems.push({ ...server, name: OURS, cores: layout.systemCores, gateway: null })
      if (hasRedis()) {
        const redis = await servers.add(startRedis(placement))
        const load = redisLoad(redis.url, scenario.call.body?.bytes ?? scenario.origin.bytes)
        systems.push({ ...redis, cores: layout.systemCores, gateway: null, load })
      }
    } else if (target === null) {
      const log = logTarget(options)
      const { routes } = await servers.add(startIdentity(scenario.routes, dir))
      const config = scenarioConfig({ ...scenario, routes }, origin.url, log)
      const gateway = await servers.add(startGateway({ ...placement, env: probeEnv(dir) }, config))
      systems.push({ ...gateway, name: OURS, cores: layout.systemCores, gateway })
      if (log !== null) audit = new LogAudit(gateway, options.node!, log.dataStream)
    } else systems.push(await foreignSystem(target))
    for (const name of peersOf(options)) {
      const peer = await servers.add(startPeer(name, placement, origin.url, scenario.isCached))
      systems.push({ ...peer, name, cores: layout.systemCores, gateway: null })
    }
    return { scenario, layout, memoryBytes, origin, systems, audit, close: () => servers.stop() }
  } catch (error) {
    await servers.stop().catch(() => undefined)
    throw error
  }
}

/** Returns the number of systems for a scenario. */
export function systemCount(
  parts: Pick<SetupOptions, 'scenario' | 'peers'> & { readonly base?: Scenario },
): number {
  const { base, ...own } = parts
  if (base !== undefined) return systemCount(own) + systemCount({ ...own, scenario: base })
  const hasOther = parts.scenario.system === 'cache-server' && hasRedis()
  return 1 + (hasOther ? 1 : peersOf(parts).length)
}

/** Returns the peers that can do the same as the gateway in a scenario. */
function peersOf({ scenario, peers }: Pick<SetupOptions, 'scenario' | 'peers'>): readonly PeerName[] {
  const able = scenario.isCached === true ? peers.filter((name) => name !== 'envoy') : peers
  return scenario.isPlainProxy && scenario.log === 'none' ? able : []
}

/**
 * Returns a target that is already running.
 * @throws Error if nobody listens there, or the process does not exist
 */
async function foreignSystem({ origin, pid }: Target): Promise<SystemUnderTest> {
  if (pid !== null && !isRunning(pid)) throw new Error(`there is no process ${pid} on this machine`)
  const { hostname, port } = new URL(origin)
  const failure = await connectFailure(hostname.replace(/^\[|\]$/g, ''), Number(port === '' ? 80 : port))
  if (failure !== null) throw new Error(`${origin} cannot be reached (${failure}); is it running?`)
  return { name: TARGET, url: origin, pid, cores: null, version: null, gateway: null }
}

function logTarget({ dir, scenario, node }: SetupOptions) {
  if (node === null) return null
  const dataStream = `logs-gateway-${scenario.id}`
  return { url: node.url, dataStream, spoolDir: join(dir, `spool-${dataStream}`) }
}
