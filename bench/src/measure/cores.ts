import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Who runs where. */
export interface CoreLayout {
  /** The cores of the contestant, as taskset takes them; null: not pinned. */
  readonly contestant: string | null
  /** The cores of load generator, origin and Elasticsearch; null: not pinned. */
  readonly load: string | null
  /** The contestant's cores one by one; empty when it is not pinned. */
  readonly contestantCpus: readonly string[]
  /** How many cores the contestant can use at most: its quota. */
  readonly contestantCores: number
  readonly loadCores: number
  /** Whether there were too few cores to keep them apart. */
  readonly isShared: boolean
}

/** The contestant on the first cores, everything else on the others; on all together when there are too few. */
export function coreLayout(
  workers: number,
  isPinned: boolean,
  cpus: readonly string[] = allowedCpus(),
): CoreLayout {
  const contestantCores = Math.min(workers, cpus.length)
  const others = cpus.slice(workers)
  const isShared = others.length === 0
  if (!isPinned || isShared) {
    const list = isPinned ? cpus.join(',') : null
    const contestantCpus = isPinned ? cpus : []
    return {
      contestant: list,
      load: list,
      contestantCpus,
      contestantCores,
      loadCores: Math.max(1, isShared ? cpus.length : others.length),
      isShared: isPinned && isShared,
    }
  }
  const contestantCpus = cpus.slice(0, workers)
  return {
    contestant: contestantCpus.join(','),
    load: others.join(','),
    contestantCpus,
    contestantCores,
    loadCores: others.length,
    isShared: false,
  }
}

/** Somebody else has started a contestant, here or elsewhere, and it runs where it does; so do those beside it. */
export function foreignLayout(workers: number, cpus: readonly string[] = allowedCpus()): CoreLayout {
  return {
    ...{ contestant: null, load: null, contestantCpus: [], isShared: false },
    ...{ contestantCores: Math.min(workers, cpus.length), loadCores: cpus.length },
  }
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

/** Keeps this process off the contestant's cores; answers with what undoes it. */
export function keepOffContestant({ load }: CoreLayout): () => void {
  if (load === null) return () => {}
  const before = allowedCpus().join(',')
  pinThisProcess(load)
  return () => pinThisProcess(before)
}

function pinThisProcess(cpus: string): void {
  spawnSync('taskset', ['-a', '-c', '-p', cpus, String(process.pid)])
}
