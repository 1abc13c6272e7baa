import { readFileSync } from 'node:fs'

/** A line of procfs about a process or thread: its name, and the fields behind that, which are state, parent, group and so on (proc(5)). */
export interface ProcessStat {
  readonly name: string
  readonly fields: readonly string[]
}

/** Reads `/proc/.../stat`. The name of a program may contain spaces and brackets. @throws Error if the process does not exist. */
export function readStat(path: string): ProcessStat {
  const text = readFileSync(path, 'latin1')
  const end = text.lastIndexOf(')')
  return { name: text.slice(text.indexOf('(') + 1, end), fields: text.slice(end + 2).split(' ') }
}

/** When a process started, as the kernel counts it; null if it has ended. Tells it from a later one with the same id. */
export function processStart(pid: number): string | null {
  try {
    const { fields } = readStat(`/proc/${pid}/stat`)
    return fields[0] === 'Z' ? null : fields[19]!
  } catch {
    return process.platform !== 'linux' && isAlive(pid) ? '' : null
  }
}

/** True if a process with this id exists, a zombie too. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The parent of this process, behind the shell that it may have started it by, and that shell. */
export function parentsOfThisProcess(): readonly number[] {
  const { ppid } = process
  try {
    const { name, fields } = readStat(`/proc/${ppid}/stat`)
    return SHELLS.has(name) ? [ppid, Number(fields[1])] : [ppid]
  } catch {
    return [ppid]
  }
}

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'busybox', 'zsh'])
