import { readdirSync, readFileSync } from 'node:fs'

/** The processes that were started with this in their environment, such as `TMPDIR=/tmp/a`, and have not ended. */
export function processesWith(setting: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && partsOf(name, 'environ').includes(setting))
    .map(Number)
}

/** The command of a process; empty: it has ended. */
export function commandOf(pid: number): string {
  return partsOf(pid, 'cmdline').join(' ')
}

function partsOf(pid: number | string, file: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0')
  } catch {
    // It has ended, or it is somebody else's.
    return []
  }
}
