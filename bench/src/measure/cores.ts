import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Who runs where. */
export interface CoreLayout {
  /** The cores of the system under test, as taskset takes them; null: not pinned. */
  readonly system: string | null
  /** The cores of load generator, origin and Elasticsearch; null: not pinned. */
  readonly load: string | null
  /** The system's cores one by one; empty when it is not pinned. */
  readonly systemCpus: readonly string[]
  /** How many cores the system can use at most. */
  readonly systemCores: number
  readonly loadCores: number
  /** Whether there were too few cores to keep them apart. */
  readonly isShared: boolean
}

/** The system on the first cores, everything else on the others; on all together when there are too few. */
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

/** The cores that this process may use. */
export function allowedCpus(): string[] {
  const status = readFileSync('/proc/self/status', 'utf8')
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '0'
  return list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last! - first! + 1 }, (_, i) => String(first! + i))
  })
}

/** Keeps this process off the system's cores while something goes on. */
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
