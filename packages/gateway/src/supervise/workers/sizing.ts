import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { dirname, join } from 'node:path'

/** Size of an installation: one worker per CPU. */
export type Tier = 'W1' | 'W2' | 'W4' | 'W8'

/** Number of workers that start at the same time. More would only slow each other down. */
export const BATCH = availableParallelism()
/** Default head limit of listeners (`limits.headerBytes`) in bytes. */
export const EARLY_HEAD_BYTES = 16 * 1024

/** Sources for the worker count, by precedence. */
export interface SizeOptions {
  /** From the command line, or null. */
  readonly workers: number | null
  readonly tier: Tier | null
  /** From the document, or null. */
  readonly planned: number | null
}

/** CPU resources of the machine. */
export interface Machine {
  /** Number of CPUs in the cgroup's quota, or null without a quota. */
  readonly quotaCpus: number | null
  readonly parallelism: number
}

const WORKERS_OF_TIER: Readonly<Record<Tier, number>> = { W1: 1, W2: 2, W4: 4, W8: 8 }

/**
 * Returns the number of workers: the first option that is set, otherwise one per available CPU, at least one.
 */
export function workerCount(options: SizeOptions, machine: Machine): number {
  if (options.workers !== null) return options.workers
  if (options.tier !== null) return WORKERS_OF_TIER[options.tier]
  if (options.planned !== null) return options.planned
  const cpus = machine.quotaCpus === null ? machine.parallelism : Math.ceil(machine.quotaCpus)
  return Math.max(1, Math.min(cpus, machine.parallelism))
}

/**
 * Returns the number of workers to start before the document is read. Command-line options are final, so they
 * all start early. Otherwise the document may ask for any number, but at least one. If heap limits depend on
 * the number, as in a pod, documents usually leave it to the CPU count.
 */
export function earlyWorkerCount({
  workers,
  tier,
}: {
  workers?: number | undefined
  tier?: Tier | undefined
}): number {
  if (workers === undefined && tier === undefined && heapFlags(1).length === 0) return 1
  return workerCount({ workers: workers ?? null, tier: tier ?? null, planned: null }, thisMachine())
}

/** Returns the CPU resources of this machine. @param root folder that contains `/proc` and `/sys`. */
export function thisMachine(root = '/'): Machine {
  return { quotaCpus: cpuQuota(root), parallelism: availableParallelism() }
}

/**
 * Share of a container's memory limit for all workers' heaps. Buffers, code and the supervisor need the rest.
 */
export const HEAP_SHARE = 0.65

/** Minimum heap in MiB. A worker runs with less, but spends most of its time collecting garbage. */
const LEAST_HEAP_MIB = 64

/** Memory and memory settings of a process. */
export interface MemorySetting {
  /** Memory limit of the cgroup in bytes. 0, or more than the machine has, means no limit. */
  readonly constrained: number
  readonly total: number
  /** `NODE_OPTIONS`, which workers inherit. */
  readonly nodeOptions: string
}

/**
 * Returns the option that limits each worker's heap. Empty without a memory limit, or if the operator has set
 * one. By default V8 uses half of the limit for each heap, so two workers can outgrow their container and be
 * killed by the kernel before they collect garbage.
 * @param reservedBytes memory used by processes other than workers.
 */
export function heapFlags(
  workers: number,
  reservedBytes = 0,
  setting: MemorySetting = memoryOfThisProcess(),
): readonly string[] {
  const { constrained, total, nodeOptions } = setting
  const isLimited = constrained > 0 && constrained < total
  if (!isLimited || /--max[-_]old[-_]space[-_]size/.test(nodeOptions)) return []
  const heapBytes = Math.max(0, constrained - reservedBytes) * HEAP_SHARE
  const heapMib = Math.floor(heapBytes / 1024 ** 2 / Math.max(1, workers))
  return [`--max-old-space-size=${Math.max(LEAST_HEAP_MIB, heapMib)}`]
}

function memoryOfThisProcess(): MemorySetting {
  return {
    constrained: process.constrainedMemory(),
    total: totalmem(),
    nodeOptions: process.env['NODE_OPTIONS'] ?? '',
  }
}

/**
 * Returns the number of CPUs in this process's cgroup quota, or null without a quota. `os.cpus` and
 * `os.availableParallelism` ignore quotas; with a worker per host core under a quota of two CPUs, workers
 * would mostly be throttled. Ancestor groups limit a group too, so the smallest quota up to the root counts.
 */
export function cpuQuota(root = '/'): number | null {
  const quotas: number[] = []
  for (const line of textOf(join(root, 'proc/self/cgroup')).split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
    if (controllers === '') quotas.push(...quotasUpwards(join(root, 'sys/fs/cgroup'), path!, quotaOfV2))
    else if (controllers?.split(',').includes('cpu') === true) {
      quotas.push(...quotasUpwards(join(root, 'sys/fs/cgroup/cpu'), path!, quotaOfV1))
      quotas.push(...quotasUpwards(join(root, 'sys/fs/cgroup/cpu,cpuacct'), path!, quotaOfV1))
    }
  }
  return quotas.length === 0 ? null : Math.min(...quotas)
}

/**
 * Collects quotas from a group up to the mount's root. In a container the group's path is often the host's,
 * and only the root exists.
 */
function quotasUpwards(mount: string, path: string, quotaOf: (dir: string) => number | null): number[] {
  const quotas: number[] = []
  for (let dir = path; ; dir = dirname(dir)) {
    const quota = quotaOf(join(mount, dir))
    if (quota !== null) quotas.push(quota)
    if (dir === '/') return quotas
  }
}

/** Reads `cpu.max`, such as `200000 100000` or `max 100000`: microseconds of CPU time per period. */
function quotaOfV2(dir: string): number | null {
  const [quota, period] = textOf(join(dir, 'cpu.max')).trim().split(' ')
  return ratio(quota, period)
}

function quotaOfV1(dir: string): number | null {
  return ratio(textOf(join(dir, 'cpu.cfs_quota_us')).trim(), textOf(join(dir, 'cpu.cfs_period_us')).trim())
}

function ratio(quota: string | undefined, period: string | undefined): number | null {
  const cpus = Number(quota) / Number(period)
  return Number.isFinite(cpus) && cpus > 0 ? cpus : null
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
