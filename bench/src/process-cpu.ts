import { readdirSync, readFileSync } from 'node:fs'

/** Microseconds of one clock tick: Linux counts process time in hundredths of a second. */
const TICK_US = 10_000

/** User and system time of a process in microseconds; 0 when it is gone. */
export function cpuMicros(pid: number): number {
  const fields = statFields(pid)
  return fields === null ? 0 : (Number(fields[11]) + Number(fields[12])) * TICK_US
}

/** The time that the machine below a virtual one has taken from a core, in microseconds; 0 where nobody counts it. */
export function stolenMicros(cpu: string): number {
  const line = readFileSync('/proc/stat', 'utf8')
    .split('\n')
    .find((text) => text.startsWith(`cpu${cpu} `))
  return Number(line?.split(' ')[8] ?? 0) * TICK_US
}

/** A process and all its descendants. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const fields = statFields(Number(name))
    if (fields === null) continue
    const parent = Number(fields[1])
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)]
  return below(root)
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
