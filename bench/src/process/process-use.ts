import { readdirSync, readFileSync } from 'node:fs'

const PAGE_BYTES = 4096
/** Microseconds per clock tick: Linux counts process time in hundredths of a second. */
const TICK_MICROS = 10_000

/** Returns the trimmed content of a kernel file, or null if it does not exist. */
export function systemText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return null
  }
}

/** Returns a process and all its descendants. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? Number(statFields(Number(name))?.[1]) : Number.NaN
    if (!Number.isNaN(parent)) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const found: number[] = []
  const add = (pid: number): void => {
    found.push(pid)
    for (const child of children.get(pid) ?? []) add(child)
  }
  if (statFields(root) !== null) add(root)
  return found
}

/** True if the process exists and has not ended, whoever owns it. */
export function isRunning(pid: number): boolean {
  const state = statFields(pid)?.[0]
  // A process that has ended remains until its parent reads its status.
  return state !== undefined && state !== 'Z' && state !== 'X'
}

/** Returns the CPU time of a process tree, including reaped descendants. */
export function treeCpuMicros(root: number): number {
  return sumOf(processTree(root), (pid) => ticks(pid, [11, 12, 13, 14]))
}

/** Returns the part of the CPU time of a process tree that was spent in the kernel. */
export function treeKernelMicros(root: number): number {
  return sumOf(processTree(root), (pid) => ticks(pid, [12, 14]))
}

/** Returns the CPU time of a process, or 0 if it has ended. */
export function cpuMicros(pid: number): number {
  return ticks(pid, [11, 12])
}

/** Returns the resident memory of a process tree in bytes. */
export function treeRssBytes(root: number): number {
  return sumOf(processTree(root), rssBytes)
}

/** Returns the resident memory of a process in bytes, or 0 if it has ended. */
export function rssBytes(pid: number): number {
  return Number(systemText(`/proc/${pid}/statm`)?.split(' ')[1] ?? 0) * PAGE_BYTES
}

/** Returns the number of open files and sockets of a process tree. */
export function treeOpenFiles(root: number): number {
  return sumOf(processTree(root), (pid) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).length
    } catch {
      return 0
    }
  })
}

/** Times of some cores so far. */
export interface CoreTimes {
  readonly atMono: number
  /** User and system time of all processes, without interrupts, which belong to no process. */
  readonly busyMicros: number
  /** Time taken by the hypervisor. */
  readonly stolenMicros: number
}

/** Returns the times of some cores so far. */
export function coreTimes(cpus: readonly string[]): CoreTimes {
  const lines = readFileSync('/proc/stat', 'utf8').split('\n')
  const fields = cpus.map((cpu) => lines.find((line) => line.startsWith(`cpu${cpu} `))?.split(' ') ?? [])
  const sum = (...columns: readonly number[]): number =>
    sumOf(fields, (row) => sumOf(columns, (column) => Number(row[column] ?? 0))) * TICK_MICROS
  return { atMono: performance.now(), busyMicros: sum(1, 2, 3), stolenMicros: sum(8) }
}

/** CPU quota of the container and its use so far. */
export interface QuotaUse {
  /** Quota in cores. */
  readonly cores: number
  readonly periods: number
  readonly throttledPeriods: number
}

/** Returns the quota, or null if there is none. */
export function quotaUse(): QuotaUse | null {
  const [version1, version2] = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup']
  const text =
    systemText(`${version2}/cpu.max`) ??
    `${systemText(`${version1}/cpu.cfs_quota_us`)} ${systemText(`${version1}/cpu.cfs_period_us`)}`
  const [quota, period] = text.split(' ').map(Number)
  if (!(quota! > 0 && period! > 0)) return null
  const stat = systemText(`${version2}/cpu.stat`) ?? systemText(`${version1}/cpu.stat`) ?? ''
  const count = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(stat)?.[1] ?? 0)
  return { cores: quota! / period!, periods: count('nr_periods'), throttledPeriods: count('nr_throttled') }
}

function ticks(pid: number, columns: readonly number[]): number {
  const fields = statFields(pid)
  return fields === null ? 0 : sumOf(columns, (column) => Number(fields[column])) * TICK_MICROS
}

/** Returns the fields of /proc/PID/stat after the command name, which may contain anything. */
function statFields(pid: number): string[] | null {
  const text = systemText(`/proc/${pid}/stat`)
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ')
}

function sumOf<T>(list: readonly T[], value: (one: T) => number): number {
  return list.reduce((sum, one) => sum + value(one), 0)
}
