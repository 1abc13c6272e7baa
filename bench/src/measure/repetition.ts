import { formatSize } from '@sluice/core'
import type { RunningGateway } from '../contestant/gateway.js'
import type { MemoryGroup } from '../contestant/memory-group.js'
import type { Engine, LoadOrder, LoadResult } from '../model/engine.js'
import type { MemoryLimit, Throttling, WorkerDiagnostics } from '../model/summary.js'
import { throttling, throttlingSince } from './control-group.js'
import type { CoreLayout } from './cores.js'
import { type CoreTimes, coreTimes, isRunning } from './process-use.js'
import { TreeWatch } from './tree-watch.js'
import { WorkerWatch } from './worker-diagnostics.js'

/** Two looks at memory and sockets a second: often enough for what grows slowly, too rare to cost. */
const LOOK_MS = 250

/** Who is measured. */
export interface Contestant {
  readonly name: string
  /** Scheme, host and port. */
  readonly url: string
  /** The first process of its tree; null: it is not known, nor what it uses. */
  readonly pid: number | null
  /** How many cores it can use at most; NaN: not known. */
  readonly cores: number
  /** Null: it is not known. */
  readonly version: string | null
  /** Null for anybody but a gateway that was started for the run. */
  readonly gateway: RunningGateway | null
  /** Null or absent: its memory has no limit of its own. */
  readonly memory?: Pick<MemoryGroup, 'limitBytes' | 'peakBytes' | 'takeKills'> | null
}

/** One measured time of one contestant. */
export interface Repetition {
  /** Null: the load generator could not do its work. */
  readonly result: LoadResult | null
  /** Why not; null when it could. */
  readonly failure: string | null
  /** User and system time of the contestant's tree, with what its traffic log does later; NaN: not known. */
  readonly cpuMicros: number
  /** Why that time is not known, though it was to be; null or absent: it is, or nobody knows the process. */
  readonly costFailure?: string | null
  /**
   * That time, until the load ended, over what its cores could give: what the machine below took away is left out. NaN:
   * not known, as with a server that uses as many cores as it likes.
   */
  readonly busyShare: number
  /** What others used of the contestant's cores; 0 where the contestant is not pinned, or its own use is not known. */
  readonly foreignShare: number
  readonly rssBytes: number
  readonly diagnostics: readonly WorkerDiagnostics[]
  /** How often requests waited for a connection to the origin; null or absent: not known. */
  readonly upstreamWaits?: number | null
  /** What the CPU quota around the contestant counted until the load ended; null or absent: there is none. */
  readonly throttling?: Throttling | null
  /** Null or absent: there is none. */
  readonly memory?: MemoryLimit | null
}

/** Loads a contestant once. Never fails: what goes wrong is part of the answer. */
export async function measure(
  contestant: Contestant,
  engine: Engine,
  order: LoadOrder,
  layout: CoreLayout,
): Promise<Repetition> {
  const { gateway, pid, cores, memory = null } = contestant
  const watch = await watchOf(gateway)
  const tree = pid === null ? null : new TreeWatch(pid)
  const look = (): void => {
    tree?.look()
    watch?.look()
  }
  const before = coreTimes(layout.contestantCpus)
  const throttledBefore = pid === null ? null : throttling(pid)
  const timer = setInterval(look, LOOK_MS)
  let result: LoadResult | null = null
  let failure: string | null = null
  try {
    result = await engine.run(order)
  } catch (error) {
    failure = firstLine(error)
  } finally {
    clearInterval(timer)
  }
  look()
  const throttled = pid === null ? null : throttlingSince(throttledBefore, throttling(pid))
  const loaded = tree?.cpuMicros ?? Number.NaN
  const shares = sharesOf(before, { layout, cores, loaded, seconds: loadSeconds(result, order) })
  failure ??= await settlingFailure(gateway)
  const hasEnded = pid !== null && !isRunning(pid)
  if (hasEnded) failure ??= `the process ${pid} of ${contestant.name} has ended while it was measured`
  tree?.look()
  const loss = hasEnded ? null : lossOf(contestant, tree)
  // Whether a contestant of ours was the bottleneck is known by the use of its cores alone.
  if (!Number.isNaN(cores)) failure ??= loss
  // The cause stands in place of what followed from it.
  failure = wantOfMemory(contestant) ?? failure
  const told = (await watch?.end().catch(() => null)) ?? { workers: [], upstreamWaits: null }
  const { workers: diagnostics, upstreamWaits } = told
  // What a process has used is gone with it.
  const cpuMicros = hasEnded || tree === null ? Number.NaN : tree.cpuMicros
  const seen = { rssBytes: tree?.rssBytes ?? 0, diagnostics, upstreamWaits, throttling: throttled }
  const limit = memory === null ? null : { limitBytes: memory.limitBytes, peakBytes: memory.peakBytes() }
  return { result, failure, cpuMicros, costFailure: loss, ...shares, ...seen, memory: limit }
}

/** Why it is not known what a contestant used; null where it is, or where nobody knows its process. */
function lossOf({ name }: Contestant, tree: TreeWatch | null): string | null {
  if (tree === null || tree.lost === null) return null
  return `the process ${tree.lost} of ${name} has ended while it was measured, and what it used is not known`
}

/** What the kernel did where the memory of a group did not suffice, since the last repetition; null: nothing. */
function wantOfMemory({ name, memory = null }: Contestant): string | null {
  const kills = memory?.takeKills() ?? 0
  if (memory === null || kills === 0) return null
  const processes = kills === 1 ? '1 process' : `${kills} processes`
  return `the kernel ended ${processes} of ${name}, which may use ${formatSize(memory.limitBytes)} of memory`
}

/** A gateway that does not answer is found out by its load. */
async function watchOf(gateway: RunningGateway | null): Promise<WorkerWatch | null> {
  if (gateway === null) return null
  return WorkerWatch.begin(gateway).catch(() => null)
}

async function settlingFailure(gateway: RunningGateway | null): Promise<string | null> {
  if (gateway === null || !gateway.hasLog) return null
  return gateway.settled().then(() => null, firstLine)
}

/** From the first request on. */
function loadSeconds(result: LoadResult | null, order: LoadOrder): number {
  return result === null ? order.seconds : result.seconds + (result.leadIn?.seconds ?? 0)
}

interface Span {
  readonly layout: CoreLayout
  /** That the contestant can use. */
  readonly cores: number
  /** CPU time of the contestant in it. */
  readonly loaded: number
  readonly seconds: number
}

function sharesOf(
  before: CoreTimes,
  { layout, cores, loaded, seconds }: Span,
): Pick<Repetition, 'busyShare' | 'foreignShare'> {
  const { contestantCpus } = layout
  const after = coreTimes(contestantCpus)
  const stolenMicros = after.stolenMicros - before.stolenMicros
  const quotaMicros = Math.max(1, seconds * 1e6 * cores - stolenMicros)
  const elapsedMicros = (after.atMono - before.atMono) * 1000 * contestantCpus.length
  const foreignMicros = after.busyMicros - before.busyMicros - loaded
  const isAlone = contestantCpus.length > 0 && !layout.isShared && !Number.isNaN(loaded)
  return {
    busyShare: loaded / quotaMicros,
    foreignShare: isAlone ? Math.max(0, foreignMicros) / Math.max(1, elapsedMicros) : 0,
  }
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n')[0] ?? text
}
