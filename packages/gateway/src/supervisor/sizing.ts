import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { dirname, join } from 'node:path'

/** A size of installation: that many CPUs, that many workers. */
export type Tier = 'W1' | 'W2' | 'W4' | 'W8'

/** What was asked for, the strongest first. */
export interface SizeOptions {
  /** From the command line. */
  readonly workers: number | null
  readonly tier: Tier | null
  /** From the document. */
  readonly planned: number | null
}

/** What the machine grants. */
export interface Machine {
  /** CPUs of the cgroup's quota; null when there is none. */
  readonly quotaCpus: number | null
  readonly parallelism: number
}

const WORKERS_OF_TIER: Readonly<Record<Tier, number>> = { W1: 1, W2: 2, W4: 4, W8: 8 }

/** The number of workers: the first option that is set, else one for each CPU of the quota, at least one. */
export function workerCount(options: SizeOptions, machine: Machine): number {
  if (options.workers !== null) return options.workers
  if (options.tier !== null) return WORKERS_OF_TIER[options.tier]
  if (options.planned !== null) return options.planned
  const cpus = machine.quotaCpus === null ? machine.parallelism : Math.ceil(machine.quotaCpus)
  return Math.max(1, Math.min(cpus, machine.parallelism))
}

/** This machine. `root` is where `/proc` and `/sys` are. */
export function thisMachine(root = '/'): Machine {
  return { quotaCpus: cpuQuota(root), parallelism: availableParallelism() }
}

/** What the heaps of all workers may take of the memory of a container; buffers, code and the supervisor need the rest. */
export const HEAP_SHARE = 0.65

/** A worker starts and serves with less, but collects garbage most of the time. */
const LEAST_HEAP_MIB = 64

/** How much memory and what settings a process has. */
export interface MemorySetting {
  /** Bytes that the cgroup grants; 0 or more than the machine has: no limit. */
  readonly constrained: number
  readonly total: number
  /** `NODE_OPTIONS`, which the workers inherit. */
  readonly nodeOptions: string
}

/**
 * The option that bounds the heap of each of that many workers, none where no memory limit holds or the operator has set
 * one. V8 by itself takes half of the limit for each heap, so that two workers outgrow their container and the kernel kills
 * one of them in place of its garbage being collected.
 * @param reservedBytes what others than the workers hold of that memory.
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
 * The CPUs that the cgroup of this process may use, or null without a quota. Asked for here because neither
 * `os.cpus` nor `os.availableParallelism` sees it, and a worker for each core of the host under a quota of two CPUs
 * spends its time throttled. A group is bound by its ancestors too, so the smallest quota up to the root counts.
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

/** In a container the group's path is often that of the host, and only the mount's own root exists: both are tried. */
function quotasUpwards(mount: string, path: string, quotaOf: (dir: string) => number | null): number[] {
  const quotas: number[] = []
  for (let dir = path; ; dir = dirname(dir)) {
    const quota = quotaOf(join(mount, dir))
    if (quota !== null) quotas.push(quota)
    if (dir === '/') return quotas
  }
}

/** `cpu.max` holds `200000 100000` or `max 100000`: microseconds of CPU per period. */
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
