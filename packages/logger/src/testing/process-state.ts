import { readFileSync } from 'node:fs'

/** Returns the kernel's state letter of a process, or undefined if it does not exist. */
export function processState(pid: number): string | undefined {
  try {
    return /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  } catch {
    return undefined
  }
}
