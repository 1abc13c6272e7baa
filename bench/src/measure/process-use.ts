import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { systemText } from './system-file.js'

const PAGE_BYTES = 4096
/** Of one clock tick: Linux counts process time in hundredths of a second. */
export const TICK_MICROS = 10_000

/** What the kernel's table of processes says of one of them. */
export interface ProcessRow {
  readonly parent: number
  /** In clock ticks since the machine began; with the number it tells a process from a later one of the same number. */
  readonly startedAt: number
  /** User and system time of its own. */
  readonly ownMicros: number
  /** The same of the children that have ended and whose status it asked for, and of theirs. */
  readonly childrenMicros: number
}

/** Every process that there is, by its number, also those that have ended and whose status nobody has asked for. */
export type ProcessTable = ReadonlyMap<number, ProcessRow>

export function processTable(): ProcessTable {
  const table = new Map<number, ProcessRow>()
  for (const name of readdirSync('/proc')) {
    const fields = /^\d+$/.test(name) ? statFields(Number(name)) : null
    if (fields !== null) table.set(Number(name), rowOf(fields))
  }
  return table
}

/** Some processes of a table and all their descendants. */
export function treeIn(table: ProcessTable, roots: Iterable<number>): Set<number> {
  const children = new Map<number, number[]>()
  for (const [pid, { parent }] of table) children.set(parent, [...(children.get(parent) ?? []), pid])
  const found = new Set<number>()
  const add = (pid: number): void => {
    if (found.has(pid)) return
    found.add(pid)
    for (const child of children.get(pid) ?? []) add(child)
  }
  for (const root of roots) add(root)
  return found
}

/** A process and all its descendants. */
export function processTree(root: number): number[] {
  return [...treeIn(processTable(), [root])]
}

/** Whether there is such a process, of whomever, and it has not ended. */
export function isRunning(pid: number): boolean {
  const state = statFields(pid)?.[0]
  // One that has ended is there until its parent has asked for its status.
  return state !== undefined && state !== 'Z' && state !== 'X'
}

/** User and system time of a process and all below it, with that of those which have ended. */
export function treeCpuMicros(root: number): number {
  const table = processTable()
  let sum = 0
  for (const pid of treeIn(table, [root])) sum += usedMicros(table.get(pid))
  return sum
}

/** A process's own time and that of its children which have ended; 0 without one. */
export function usedMicros(row: ProcessRow | undefined): number {
  return row === undefined ? 0 : row.ownMicros + row.childrenMicros
}

/** Resident memory of a process and all below it. */
export function treeRssBytes(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + rssBytes(pid), 0)
}

/** User and system time of a process in microseconds; 0 when it is gone. */
export function cpuMicros(pid: number): number {
  const fields = statFields(pid)
  return fields === null ? 0 : rowOf(fields).ownMicros
}

/**
 * Time that the first thread of a process was on a processor, to the nanosecond where the other figures count
 * hundredths of a second. @throws Error when it is gone, or the kernel keeps no such statistics
 */
export function firstThreadMicros(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000
}

/** Resident memory of a process; 0 when it is gone. */
export function rssBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES
  } catch {
    return 0
  }
}

/** Sockets that a process has open, to clients, upstreams and its supervisor; 0 when it is gone. */
export function openSockets(pid: number): number {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).filter((name) => isSocket(`${folder}/${name}`)).length
  } catch {
    return 0
  }
}

/** Files, sockets and all else that a process has open; 0 when it is gone. */
export function openFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}

/** How often a thread left its core, since it began. */
export interface Switches {
  /** It waited for something. */
  readonly voluntary: number
  /** Its time was up, or somebody else's turn. */
  readonly involuntary: number
}

/** The switches of every thread of a process, by the thread's number; empty when it is gone. */
export function threadSwitches(pid: number): ReadonlyMap<string, Switches> {
  const found = new Map<string, Switches>()
  for (const thread of threadsOf(pid)) {
    const status = systemText(`/proc/${pid}/task/${thread}/status`)
    if (status === null) continue
    const count = (name: string): number =>
      Number(new RegExp(`^${name}_ctxt_switches:\\s*(\\d+)$`, 'm').exec(status)?.[1] ?? 0)
    found.set(thread, { voluntary: count('voluntary'), involuntary: count('nonvoluntary') })
  }
  return found
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:')
  } catch {
    // It was closed between the list and the look.
    return false
  }
}

/** The time that the machine below a virtual one has taken from a core, in microseconds; 0 where nobody counts it. */
export function stolenMicros(cpu: string): number {
  const line = readFileSync('/proc/stat', 'utf8')
    .split('\n')
    .find((text) => text.startsWith(`cpu${cpu} `))
  return Number(line?.split(' ')[8] ?? 0) * TICK_MICROS
}

/** What some cores did until now. */
export interface CoreTimes {
  readonly atMono: number
  /** User and system time of all processes; interrupts are left out, since no process is charged for them. */
  readonly busyMicros: number
  readonly stolenMicros: number
}

export function coreTimes(cpus: readonly string[]): CoreTimes {
  const lines = readFileSync('/proc/stat', 'utf8').split('\n')
  let busy = 0
  for (const cpu of cpus) {
    const fields = lines.find((line) => line.startsWith(`cpu${cpu} `))?.split(' ') ?? []
    busy += Number(fields[1] ?? 0) + Number(fields[2] ?? 0) + Number(fields[3] ?? 0)
  }
  return {
    atMono: performance.now(),
    busyMicros: busy * TICK_MICROS,
    stolenMicros: cpus.reduce((sum, cpu) => sum + stolenMicros(cpu), 0),
  }
}

function rowOf(fields: readonly string[]): ProcessRow {
  const number = (at: number): number => Number(fields[at])
  return {
    parent: number(1),
    startedAt: number(19),
    ownMicros: (number(11) + number(12)) * TICK_MICROS,
    childrenMicros: (number(13) + number(14)) * TICK_MICROS,
  }
}

/** The fields of /proc/PID/stat behind the command's name, which may hold anything. */
function statFields(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}
