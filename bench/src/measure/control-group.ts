import { dirname, join, relative } from 'node:path'
import type { GroupLimits } from '../model/machine.js'
import type { Throttling } from '../model/summary.js'
import { systemText } from './system-file.js'

/** A memory limit above it is the kernel's way to say that there is none. */
const NO_LIMIT_BYTES = 2 ** 60

/** The folders of one controller for a process, from its own group up to the topmost that it sees. */
type Lineage = readonly string[]

/** What a process may use at the most: a group never allows more than those around it. */
export function groupLimits(pid: number | 'self' = 'self', root = '/'): GroupLimits {
  const own = lineage('cpuset', pid, root)[0] ?? ''
  const cpuset =
    systemText(`${own}/cpuset.cpus.effective`, root) ?? systemText(`${own}/cpuset.effective_cpus`, root)
  return {
    cpus: smallest(lineage('cpu', pid, root).map((folder) => quota(folder, root))),
    cpuset: cpuset === '' ? null : cpuset,
    memoryBytes: smallest(lineage('memory', pid, root).map((folder) => memoryLimit(folder, root))),
  }
}

/** What the CPU quotas around a process have counted so far; null where there is none. */
export function throttling(pid: number, root = '/'): Throttling | null {
  const limited = lineage('cpu', pid, root).filter((folder) => quota(folder, root) !== null)
  if (limited.length === 0) return null
  const count = (folder: string, name: string): number =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(systemText(`${folder}/cpu.stat`, root) ?? '')?.[1] ?? 0)
  return {
    periods: Math.max(...limited.map((folder) => count(folder, 'nr_periods'))),
    throttledPeriods: Math.max(...limited.map((folder) => count(folder, 'nr_throttled'))),
  }
}

/** What they counted since; null where there is no quota now, or was none then. */
export function throttlingSince(before: Throttling | null, after: Throttling | null): Throttling | null {
  if (before === null || after === null) return null
  return {
    periods: after.periods - before.periods,
    throttledPeriods: after.throttledPeriods - before.throttledPeriods,
  }
}

/** CPU time a second, in cores: `cpu.max` of version 2, or the two files of version 1. */
function quota(folder: string, root: string): number | null {
  const text =
    systemText(`${folder}/cpu.max`, root) ??
    `${systemText(`${folder}/cpu.cfs_quota_us`, root)} ${systemText(`${folder}/cpu.cfs_period_us`, root)}`
  const [micros, periodMicros] = text.split(' ').map(Number)
  return micros! > 0 && periodMicros! > 0 ? micros! / periodMicros! : null
}

function memoryLimit(folder: string, root: string): number | null {
  const text = systemText(`${folder}/memory.max`, root) ?? systemText(`${folder}/memory.limit_in_bytes`, root)
  const bytes = Number(text ?? Number.NaN)
  return bytes < NO_LIMIT_BYTES ? bytes : null
}

function smallest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.min(...known)
}

/**
 * The folders of a process's groups. A controller is in a hierarchy of its own (version 1), or in the one of version 2,
 * which has no names.
 */
export function lineage(controller: string, pid: number | 'self', root: string): Lineage {
  const groups = (systemText(`/proc/${pid}/cgroup`, root) ?? '').split('\n')
  const named = groups.find((line) => line.split(':')[1]?.split(',').includes(controller))
  const path = (named ?? groups.find((line) => line.startsWith('0::')))?.split(':').slice(2).join(':')
  const mount = mountOf(named === undefined ? null : controller, root)
  if (path === undefined || mount === null) return []
  const below = relative(mount.top, path)
  // A group outside of what is mounted here (`..`) cannot be looked at; the topmost that can be is the one that holds.
  const folders = [below.startsWith('..') ? mount.point : join(mount.point, below)]
  while (folders.at(-1)! !== mount.point) folders.push(dirname(folders.at(-1)!))
  return folders
}

interface Mount {
  /** The group that is seen at the mount point. */
  readonly top: string
  readonly point: string
}

/** Where the hierarchy of a controller is mounted; null of the controller: that of version 2. */
function mountOf(controller: string | null, root: string): Mount | null {
  for (const line of (systemText('/proc/self/mountinfo', root) ?? '').split('\n')) {
    const [place, filesystem] = line.split(' - ')
    const [type, , options] = filesystem?.split(' ') ?? []
    const isIt =
      controller === null
        ? type === 'cgroup2'
        : type === 'cgroup' && options?.split(',').includes(controller) === true
    const [, , , top, point] = place?.split(' ') ?? []
    if (isIt && top !== undefined && point !== undefined) return { top, point }
  }
  return null
}
