import type { EndObservation } from '../measure/repetition.js'
import type { Setup } from '../measure/setup.js'
import { percent } from '../measure/validity.js'
import type { Engine } from '../model/engine.js'
import { AGENT_ROLES, type AgentAddresses, OURS, type RunOptions } from '../model/run.js'
import type { Scenario, SuiteCase } from '../model/scenario.js'
import { gatewayVersion } from '../servers/gateway.js'
import { AgentClient, measuredOffset } from './agent-client.js'
import type { ActionResults } from './agent-run.js'

interface Host {
  readonly roles: string
  readonly client: AgentClient
  readonly facts: ActionResults['facts']
  readonly clock: Awaited<ReturnType<typeof measuredOffset>>
  /** CPU shares of each measured time. */
  readonly shares: ActionResults['watched'][]
}

/** Load generator, origin and gateway on the hosts of agents. */
export type RemoteHosts = Awaited<ReturnType<typeof connectAgents>>

/** Starts a run on every agent. @throws Error if one refuses. No run is left then. */
export async function connectAgents(addresses: AgentAddresses, suite: string, warn: (text: string) => void) {
  const origins = [...new Set(AGENT_ROLES.map((role) => addresses[role]))]
  const clients = origins.map((origin) => new AgentClient(origin, addresses.token))
  const close = async (): Promise<void> => void (await Promise.all(clients.map((client) => client.close())))
  const hosts: Host[] = []
  try {
    for (const client of clients) {
      const clock = await measuredOffset(() => client.perform('clock', {}))
      const facts = await client.perform('facts', { version: gatewayVersion() })
      const roles = AGENT_ROLES.filter((role) => addresses[role] === client.origin).join(', ')
      hosts.push({ roles, client, facts, clock, shares: [] })
    }
  } catch (error) {
    await close()
    throw error
  }
  const [generator, origin, gateway] = AGENT_ROLES.map(
    (role) => hosts.find(({ client }) => client.origin === addresses[role])!,
  ) as [Host, Host, Host]
  let place = { suite, scenario: '' }
  const stop = async (): Promise<void> => {
    await gateway.client.perform('stop', {})
    await origin.client.perform('stop', {})
  }
  return {
    /** Facts about the host of the gateway. */
    facts: gateway.facts,
    close,
    /** Returns a load generator that runs on its host, for the scenario that was opened last. */
    engineOf: (engine: Engine): Engine => ({
      ...engine,
      version: () => generator.facts.engines[engine.name] ?? null,
      run: ({ origin: target, connections, warmUpSeconds, seconds, perSecond, sampleCount = 0 }) => {
        const load = { ...place, engine: engine.name, target, connections, warmUpSeconds, seconds }
        return generator.client.perform('load', { ...load, perSecond, sampleCount })
      },
    }),
    /** Returns the reason why a scenario cannot be measured on these hosts, or null. */
    reasonAgainst({ base, scenario: { log, system, workers } }: SuiteCase): string | null {
      if (base !== undefined) return 'agents measure no pairs'
      if (log !== 'none' || system !== undefined) return 'agents start only gateways without a traffic log'
      const { length } = gateway.facts.cpus
      return workers > length ? `the host of the gateway has only ${length} cores` : null
    },
    /** Starts origin and systems of a scenario. @throws Error if one cannot start */
    async open(scenario: Scenario, { peers, isPinned }: RunOptions): Promise<Setup> {
      place = { suite, scenario: scenario.id }
      await stop()
      const { port, version } = await origin.client.perform('origin', place)
      const url = urlOf(origin, port)
      const others = hosts.filter((host) => host !== gateway && host.facts.machine === gateway.facts.machine)
      const isShared = others.length > 0 || gateway.roles !== 'gateway'
      const input = { ...place, origin: url, peers: [...peers], isPinned, isShared }
      const { systems, layout, memoryBytes } = await gateway.client.perform('systems', input)
      if (memoryBytes === null && scenario.tier !== null)
        warn(`${scenario.id}: the host of the gateway cannot enforce the memory of the tier`)
      const opened = systems.map(({ name, port, version, digest }) => ({
        ...{ name, version, url: urlOf(gateway, port), pid: null, cores: layout.systemCores },
        gateway: name === OURS ? { hasLog: false, admin: '', digest, settled: async () => {} } : null,
        observe: () => observe(hosts, gateway, name),
      }))
      const own = { origin: { url, version }, systems: opened, audit: null, close: stop }
      return { scenario, layout, memoryBytes, ...own }
    },
    /** Describes the host of each role for the summary. */
    report: () => Object.fromEntries(hosts.map((host) => [host.roles, hostText(host)])),
  }
}

/** Observes all hosts, and a system on the gateway's. */
async function observe(hosts: readonly Host[], gateway: Host, system: string): Promise<EndObservation> {
  for (const host of hosts) await host.client.perform('watch', { system: host === gateway ? system : null })
  return async (seconds) => {
    const ends = await Promise.all(hosts.map(({ client }) => client.perform('watched', { seconds })))
    for (const [i, { shares }] of hosts.entries()) shares.push(ends[i]!)
    return ends[hosts.indexOf(gateway)]!.observation!
  }
}

function hostText({ client, facts: { host, cpus }, clock, shares }: Host): string {
  const used = percent(shares.reduce((sum, { busyShare }) => sum + busyShare / shares.length, 0))
  const most = percent(Math.max(0, ...shares.map(({ stolenShare }) => stolenShare)))
  const offset = `clock ${clock.offsetMs.toFixed(1)} ± ${clock.errorMs.toFixed(1)} ms from ours`
  const use = `${used} of the CPU time used, at most ${most} taken by the hypervisor`
  return [client.origin, host.cpuModel, `${cpus.length} CPUs`, host.kernel, offset, use].join(', ')
}

function urlOf({ client }: Host, port: number): string {
  return `http://${new URL(client.origin).hostname}:${port}`
}
