import { readFileSync } from 'node:fs'

/**
 * A `stat` line of procfs: the process or thread name and the fields after it: state, parent, group and so
 * on (proc(5)).
 */
export interface ProcessStat {
  readonly name: string
  readonly fields: readonly string[]
}

/**
 * Reads `/proc/.../stat`. The name may contain spaces and parentheses.
 * @throws Error if the process does not exist.
 */
export function readStat(path: string): ProcessStat {
  const text = readFileSync(path, 'latin1')
  const end = text.lastIndexOf(')')
  return { name: text.slice(text.indexOf('(') + 1, end), fields: text.slice(end + 2).split(' ') }
}

/**
 * Returns the kernel's start time of a process, or null if it has exited. It distinguishes processes that
 * reuse an id.
 */
export function processStart(pid: number): string | null {
  try {
    const { fields } = readStat(`/proc/${pid}/stat`)
    return fields[0] === 'Z' ? null : fields[19]!
  } catch {
    return process.platform !== 'linux' && isAlive(pid) ? '' : null
  }
}

/** Returns true if a process with this id exists, even as a zombie. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Returns the parent process id. If that is a shell, its parent's id follows. */
export function parentProcessIds(): readonly number[] {
  const { ppid } = process
  try {
    const { name, fields } = readStat(`/proc/${ppid}/stat`)
    return SHELLS.has(name) ? [ppid, Number(fields[1])] : [ppid]
  } catch {
    return [ppid]
  }
}

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'busybox', 'zsh'])
