import { readFileSync } from 'node:fs'

/** The letter by which the kernel names what a process is doing; a process that is gone has none. */
export function processState(pid: number): string | undefined {
  try {
    return /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  } catch {
    return undefined
  }
}
