import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Assignment of programs to cores. */
export interface CoreLayout {
  /** Cores of the system under test for `taskset`, or null for no pinning. */
  readonly system: string | null
  /** Cores of load generator, origin and Elasticsearch, or null for no pinning. */
  readonly load: string | null
  /** Cores of the system, one by one. Empty without pinning. */
  readonly systemCpus: readonly string[]
  /** Maximum number of cores of the system. */
  readonly systemCores: number
  readonly loadCores: number
  /** True if there are too few cores to separate them. */
  readonly isShared: boolean
}

/**
 * Returns a layout with the system on the first cores and everything else on the others, or all on all cores if there
 * are too few.
 */
export function coreLayout(
  workers: number,
  isPinned: boolean,
  cpus: readonly string[] = allowedCpus(),
): CoreLayout {
  const others = cpus.slice(workers)
  const isShared = others.length === 0
  const loadCores = isShared ? cpus.length : others.length
  const systemCores = Math.min(workers, cpus.length)
  if (!isPinned) return { system: null, load: null, systemCpus: [], systemCores, loadCores, isShared: false }
  const systemCpus = isShared ? cpus : cpus.slice(0, workers)
  const load = (isShared ? cpus : others).join(',')
  return { system: systemCpus.join(','), load, systemCpus, systemCores, loadCores, isShared }
}

/** Returns the cores that this process may use. */
export function allowedCpus(): string[] {
  const status = readFileSync('/proc/self/status', 'utf8')
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '0'
  return list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last! - first! + 1 }, (_, i) => String(first! + i))
  })
}

/** Keeps this process off the system's cores during an action. */
export async function besideSystem<T>({ load }: CoreLayout, act: () => Promise<T>): Promise<T> {
  if (load === null) return act()
  const before = allowedCpus().join(',')
  pinThisProcess(load)
  try {
    return await act()
  } finally {
    pinThisProcess(before)
  }
}

function pinThisProcess(cpus: string): void {
  spawnSync('taskset', ['-a', '-c', '-p', cpus, String(process.pid)])
}
