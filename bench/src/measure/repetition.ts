import os from 'node:os'
import type { Engine, LoadOptions, LoadResult } from '../model/engine.js'
import type { WorkerDiagnostics } from '../model/summary.js'
import type { CoreLayout } from '../process/cores.js'
import {
  type CoreTimes,
  coreTimes,
  isRunning,
  type QuotaUse,
  quotaUse,
  treeCpuMicros,
  treeKernelMicros,
  treeRssBytes,
} from '../process/process-use.js'
import type { RunningGateway } from '../servers/gateway.js'
import { watchWorkers } from './worker-diagnostics.js'

/** Sampling interval in milliseconds. */
const LOOK_MS = 250

/** A system to measure. */
export interface SystemUnderTest {
  readonly name: string
  /** Scheme, host and port. */
  readonly url: string
  /** First process of its tree, or null if unknown. */
  readonly pid: number | null
  /** Maximum number of cores, or null if unknown. */
  readonly cores: number | null
  /** Version, or null if unknown. */
  readonly version: string | null
  /** The gateway, if it was started for the run. */
  readonly gateway: Pick<RunningGateway, 'hasLog' | 'admin' | 'digest' | 'settled' | 'probeDir'> | null
  /** Load without a rate, for systems that HTTP load generators cannot use. */
  readonly load?: Engine['run']
  /** Starts observing it, for systems on another machine. */
  observe?(): Promise<EndObservation>
}

/** Ends an observation. @param seconds duration of the load */
export type EndObservation = (seconds: number) => Promise<Observation>

/** One measured period of one system. */
export interface Repetition {
  /** Result, or null if the load generator failed. */
  readonly result: LoadResult | null
  /** Reason why the repetition does not count, or null. */
  readonly failure: string | null
  /** CPU time of the system's process tree, including later work of its traffic log. Null if unknown. */
  readonly cpuMicros: number | null
  /** Share of the CPU time during the load that was spent in the kernel. */
  readonly kernelShare: number | null
  /** CPU time until the end of the load as a share of its cores, without time taken by the hypervisor. */
  readonly busyShare: number | null
  /** CPU share of other programs on the system's cores. 0 without separate cores. */
  readonly foreignShare: number
  readonly rssBytes: number | null
  readonly loadAverage: number
  readonly diagnostics: readonly WorkerDiagnostics[]
  readonly upstreamWaits: number | null
  /** Share of CPU quota periods in which it was used up. */
  readonly throttledShare: number
}

/** Figures of a system and its cores during a load. */
export type Observation = Omit<Repetition, 'result'>

/** Loads a system once. A failed load is part of the result. @throws Error if its agent does not respond */
export async function measure(
  system: SystemUnderTest,
  engine: Engine,
  options: LoadOptions,
  layout: CoreLayout,
): Promise<Repetition> {
  const end = await (system.observe?.() ?? observeSystem(system, layout))
  const load = await (system.load ?? engine.run)(options).then(
    (result) => ({ result, failure: null }),
    (error: unknown) => ({ result: null, failure: firstLine(error) }),
  )
  const seen = await end((load.result?.seconds ?? options.seconds) + (load.result?.leadIn?.seconds ?? 0))
  return { ...seen, result: load.result, failure: load.failure ?? seen.failure }
}

/** Starts observing a system of this machine. */
export async function observeSystem(system: SystemUnderTest, layout: CoreLayout): Promise<EndObservation> {
  const { gateway, pid, cores } = system
  const watch = gateway === null ? null : await watchWorkers(gateway.admin).catch(() => null)
  const used = (): number => (pid === null ? 0 : treeCpuMicros(pid))
  const inKernel = (): number => (pid === null ? 0 : treeKernelMicros(pid))
  const before = {
    used: used(),
    inKernel: inKernel(),
    cores: coreTimes(layout.systemCpus),
    quota: quotaUse(),
  }
  let rssBytes = 0
  const look = (): void => {
    if (pid !== null) rssBytes = Math.max(rssBytes, treeRssBytes(pid))
    watch?.look()
  }
  const timer = setInterval(look, LOOK_MS)
  return async (seconds) => {
    clearInterval(timer)
    look()
    const throttledShare = throttled(before.quota, quotaUse())
    const loaded = pid === null ? null : used() - before.used
    // The kernel's part is read later than the whole, so it can be larger by a tick.
    const kernelShare =
      loaded === null || loaded <= 0 ? null : Math.min(1, (inKernel() - before.inKernel) / loaded)
    const shares = sharesOf(before.cores, { layout, cores, loaded, seconds })
    const unsettled = gateway?.hasLog === true ? await gateway.settled().then(() => null, firstLine) : null
    const hasEnded = pid !== null && !isRunning(pid)
    const ended = hasEnded ? `the process ${pid} of ${system.name} has ended while it was measured` : null
    const reported = await watch?.end().catch(() => null)
    return {
      failure: ended ?? unsettled,
      cpuMicros: pid === null || hasEnded ? null : used() - before.used,
      ...{ ...shares, loadAverage: os.loadavg()[0]! },
      kernelShare: hasEnded ? null : kernelShare,
      rssBytes: pid === null ? null : rssBytes,
      diagnostics: reported?.workers ?? [],
      upstreamWaits: reported?.upstreamWaits ?? null,
      throttledShare,
    }
  }
}

interface Span {
  readonly layout: CoreLayout
  readonly cores: number | null
  /** CPU time of the system during the load. */
  readonly loaded: number | null
  readonly seconds: number
}

function sharesOf(
  before: CoreTimes,
  { layout, cores, loaded, seconds }: Span,
): Pick<Repetition, 'busyShare' | 'foreignShare'> {
  const { systemCpus, isShared } = layout
  const after = coreTimes(systemCpus)
  if (loaded === null || cores === null) return { busyShare: null, foreignShare: 0 }
  const stolenMicros = after.stolenMicros - before.stolenMicros
  const busyShare = loaded / Math.max(1, seconds * 1e6 * cores - stolenMicros)
  if (systemCpus.length === 0 || isShared) return { busyShare, foreignShare: 0 }
  const elapsedMicros = Math.max(1, (after.atMono - before.atMono) * 1000 * systemCpus.length)
  const foreignMicros = after.busyMicros - before.busyMicros - loaded
  return { busyShare, foreignShare: Math.max(0, foreignMicros) / elapsedMicros }
}

function throttled(before: QuotaUse | null, after: QuotaUse | null): number {
  if (before === null || after === null) return 0
  return (after.throttledPeriods - before.throttledPeriods) / Math.max(1, after.periods - before.periods)
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n')[0] ?? text
}
