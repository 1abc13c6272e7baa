import { engineOf, engines } from '../engine/engines.js'
import { hostFacts } from '../measure/host.js'
import { type EndObservation, observeSystem } from '../measure/repetition.js'
import { openSetup, type Setup } from '../measure/setup.js'
import { allowedCpus, coreLayout } from '../process/cores.js'
import { findProgram } from '../process/executables.js'
import { temporaryFolder } from '../process/process-reaper.js'
import { type CoreTimes, coreTimes, systemText } from '../process/process-use.js'
import { ServerStack } from '../process/running-server.js'
import { gatewayVersion } from '../servers/gateway.js'
import { startOrigin } from '../servers/origin.js'
import { scenarioOf } from '../suite/suites.js'
import type { ActionInput, ActionName } from './protocol.js'

/** Returns the actions of one run. The inputs must be valid. @param host host on which servers listen */
export function agentActions(host: string) {
  const dir = temporaryFolder('sluice-agent-').path
  const cpus = allowedCpus()
  const servers = new ServerStack()
  let setup: Setup | null = null
  let watched: { readonly end: EndObservation | null; readonly before: CoreTimes } | null = null
  return {
    /** `machine` is the same for all containers of a machine. Engines that are not installed have no version. */
    facts: async ({ version }) => {
      const own = gatewayVersion()
      if (version !== own) throw new Error(`it has version ${own}, not ${version}; use the same version`)
      return {
        ...{ host: await hostFacts(), cpus, machine: systemText('/proc/sys/kernel/random/boot_id') },
        engines: Object.fromEntries(engines.map(({ name, version: found }) => [name, found()])),
      }
    },
    clock: async () => Date.now(),
    origin: async ({ suite, scenario }) => {
      const placement = { dir, host, cpus: null, cores: cpus.length }
      const { url, version } = await servers.add(startOrigin(placement, scenarioOf(suite, scenario)))
      return { port: Number(new URL(url).port), version }
    },
    systems: async ({ suite, scenario: id, origin, peers, isPinned, isShared }) => {
      const scenario = scenarioOf(suite, id)
      const layout = { ...coreLayout(scenario.workers, isPinned, cpus), isShared }
      const opened = await openSetup({
        ...{ dir, host, scenario, peers, layout, target: null, node: null },
        origin: { url: origin, version: '' },
      })
      await servers.add(Promise.resolve({ stop: opened.close }))
      setup = opened
      const systems = opened.systems.map(({ name, url, version, gateway }) => ({
        ...{ name, port: Number(new URL(url).port), version, digest: gateway?.digest ?? '' },
      }))
      return { systems, layout, memoryBytes: opened.memoryBytes }
    },
    // wrk starts a thread per core of the list.
    load: ({ suite, scenario, engine, target, ...load }) =>
      engineOf(engine).run({
        ...{ ...load, origin: target, call: scenarioOf(suite, scenario).call, dir },
        cpu: findProgram('taskset') === null ? null : cpus.join(','),
      }),
    watch: async ({ system: name }) => {
      const system = setup?.systems.find((one) => one.name === name)
      const end = system === undefined ? null : await observeSystem(system, setup!.layout)
      watched = { end, before: coreTimes(cpus) }
    },
    watched: async ({ seconds }) => {
      if (watched === null) throw new Error('nothing is watched')
      const [{ end, before }, after] = [watched, coreTimes(cpus)]
      watched = null
      const elapsedMicros = Math.max(1, (after.atMono - before.atMono) * 1000 * cpus.length)
      return {
        observation: (await end?.(seconds)) ?? null,
        busyShare: (after.busyMicros - before.busyMicros) / elapsedMicros,
        stolenShare: (after.stolenMicros - before.stolenMicros) / elapsedMicros,
      }
    },
    stop: async () => {
      // Ends its timer if the coordinator has vanished.
      await watched?.end?.(0).catch(() => null)
      watched = null
      await servers.stop()
      setup = null
    },
  } satisfies { readonly [A in ActionName]: (input: ActionInput<A>) => Promise<unknown> }
}

/** Results of the actions of an agent. */
export type ActionResults = {
  readonly [A in ActionName]: Awaited<ReturnType<ReturnType<typeof agentActions>[A]>>
}
