import { readdirSync, readFileSync } from 'node:fs'

const PAGE_BYTES = 4096
/** Of one clock tick: Linux counts process time in hundredths of a second. */
const TICK_MICROS = 10_000

/** The text of a file of the kernel, without the space around it; null: it is not there. */
export function systemText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return null
  }
}

/** A process and all its descendants. */
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

/** Whether there is such a process, of whomever, and it has not ended. */
export function isRunning(pid: number): boolean {
  const state = statFields(pid)?.[0]
  // One that has ended is there until its parent has asked for its status.
  return state !== undefined && state !== 'Z' && state !== 'X'
}

/** User and system time of a process and all below it, with that of those which have ended and were waited for. */
export function treeCpuMicros(root: number): number {
  return sumOf(processTree(root), (pid) => ticks(pid, [11, 12, 13, 14]))
}

/** User and system time of a process; 0 when it is gone. */
export function cpuMicros(pid: number): number {
  return ticks(pid, [11, 12])
}

/** Resident memory of a process and all below it. */
export function treeRssBytes(root: number): number {
  return sumOf(processTree(root), rssBytes)
}

/** Resident memory of a process; 0 when it is gone. */
export function rssBytes(pid: number): number {
  return Number(systemText(`/proc/${pid}/statm`)?.split(' ')[1] ?? 0) * PAGE_BYTES
}

/** Files, sockets and all else that a process and all below it have open. */
export function treeOpenFiles(root: number): number {
  return sumOf(processTree(root), (pid) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).length
    } catch {
      return 0
    }
  })
}

/** What some cores did until now. */
export interface CoreTimes {
  readonly atMono: number
  /** User and system time of all processes; interrupts are left out, since no process is charged for them. */
  readonly busyMicros: number
  /** What the hypervisor took. */
  readonly stolenMicros: number
}

export function coreTimes(cpus: readonly string[]): CoreTimes {
  const lines = readFileSync('/proc/stat', 'utf8').split('\n')
  const fields = cpus.map((cpu) => lines.find((line) => line.startsWith(`cpu${cpu} `))?.split(' ') ?? [])
  const sum = (...columns: readonly number[]): number =>
    sumOf(fields, (row) => sumOf(columns, (column) => Number(row[column] ?? 0))) * TICK_MICROS
  return { atMono: performance.now(), busyMicros: sum(1, 2, 3), stolenMicros: sum(8) }
}

/** What the CPU quota of the container has counted so far. */
export interface QuotaUse {
  /** CPU time a second, in cores. */
  readonly cores: number
  readonly periods: number
  readonly throttledPeriods: number
}

/** Null: there is no quota. */
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

/** The fields of /proc/PID/stat after the command's name, which may hold anything. */
function statFields(pid: number): string[] | null {
  const text = systemText(`/proc/${pid}/stat`)
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ')
}

function sumOf<T>(list: readonly T[], value: (one: T) => number): number {
  return list.reduce((sum, one) => sum + value(one), 0)
}
