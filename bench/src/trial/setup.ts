import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TrialPlan } from '../model/trial.js'
import type { CoreLayout } from '../process/cores.js'
import { freePort, LOOPBACK } from '../process/port.js'
import { ServerStack } from '../process/running-server.js'
import type { LogNode } from '../servers/elasticsearch.js'
import { type FaultOrigin, startFaultOrigin } from '../servers/fault-origin.js'
import { logConfig, startGateway, UNBOUNDED_QUEUE } from '../servers/gateway.js'
import { PLAIN_ROUTES } from '../suite/scenario-parts.js'
import type { FaultNeeds, TrialSystem } from './fault.js'
import { OTHER_ADDRESS } from './faults.js'
import { HostsFile, UPSTREAM_NAME } from './hosts-file.js'

interface TrialSetupOptions {
  readonly dir: string
  readonly plan: TrialPlan
  readonly needs: FaultNeeds
  /** Core layout, determined before this process was pinned. */
  readonly layout: CoreLayout
  /** Elasticsearch node, or null without a traffic log. */
  readonly logNode: LogNode | null
}

/** Everything that runs for one trial. */
export interface TrialSetup extends TrialSystem {
  readonly dataStream: string
  /** Stops everything except the node. */
  close(): Promise<void>
}

/** Starts origins and gateway. @throws Error if one of them cannot start. Nothing is left running then. */
export async function openTrialSetup(options: TrialSetupOptions): Promise<TrialSetup> {
  const { plan, needs, layout, logNode } = options
  const dir = join(options.dir, plan.id)
  mkdirSync(dir, { recursive: true })
  const servers = new ServerStack()
  try {
    const port = await freePort()
    const originAt = (host: string): Promise<FaultOrigin> =>
      servers.add(startFaultOrigin({ dir, cpus: layout.load, cores: 1 }, host, port))
    const origin = await originAt(LOOPBACK)
    const otherOrigin = needs.hasOtherOrigin === true ? await originAt(OTHER_ADDRESS) : null
    const hosts = needs.isNamed === true ? HostsFile.in(dir, LOOPBACK) : null
    const target = hosts === null ? origin.url : `http://${UPSTREAM_NAME}:${port}`
    const dataStream = `logs-gateway-trial-${plan.id}`
    const spoolDir = join(dir, 'spool')
    const log = logNode === null ? null : { url: logNode.node.url, dataStream, spoolDir }
    const gateway = await servers.add(
      startGateway(
        { dir, cpus: layout.system, cores: layout.systemCores },
        {
          workers: plan.workers,
          // Refusals by a queue bound are not part of the trial.
          upstreams: { origin: { targets: [target], ...UNBOUNDED_QUEUE, ...needs.upstream } },
          routes: PLAIN_ROUTES,
          log: logConfig(log),
        },
        hosts?.prefix ?? [],
      ),
    )
    const { workers } = plan
    const rename = (address: string): void => hosts?.rename(address)
    return { gateway, origin, otherOrigin, logNode, workers, dataStream, rename, close: () => servers.stop() }
  } catch (error) {
    await servers.stop().catch(() => undefined)
    throw error
  }
}
