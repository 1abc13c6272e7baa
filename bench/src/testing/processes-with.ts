import { readdirSync, readFileSync } from 'node:fs'

/** The processes that were started with this in their environment, such as `TMPDIR=/tmp/a`, and have not ended. */
export function processesWith(setting: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(setting))
    .map(Number)
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    // It has ended, or it is somebody else's.
    return []
  }
}
