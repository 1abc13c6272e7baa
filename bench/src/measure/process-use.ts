import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { cpuMicros, processTree, stolenMicros } from '../process-cpu.js'

const PAGE_BYTES = 4096
const TICK_MICROS = 10_000

/** User and system time of a process and all below it. */
export function treeCpuMicros(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + cpuMicros(pid), 0)
}

/** Resident memory of a process and all below it. */
export function treeRssBytes(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + rssBytes(pid), 0)
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

function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:')
  } catch {
    // It was closed between the list and the look.
    return false
  }
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
