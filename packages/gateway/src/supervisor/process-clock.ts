import { readdirSync } from 'node:fs'
import { readStat } from './process-stat.js'

/** Longest time that one reading adds, in milliseconds: a supervisor that reads late was stopped itself. */
export const READING_MS = 500
/** The kernel counts CPU time in steps of this many milliseconds (USER_HZ, proc(5)). */
const TICK_MS = 10

/**
 * The time of another process, in milliseconds. It stands still while the process waits for a CPU: a process that gets none
 * is starved, not hung. While a thread is runnable, the CPU time that the process has used counts; while all its threads
 * wait or are stopped, the time of the machine does. Read it at least every `READING_MS`. Without procfs, all time counts.
 */
export class ProcessClock {
  readonly #pid: number
  #ms = 0
  #readMono = performance.now()
  #cpuMs = 0

  constructor(pid: number) {
    this.#pid = pid
  }

  now(): number {
    const nowMono = performance.now()
    const passedMs = Math.min(nowMono - this.#readMono, READING_MS)
    const { cpuMs, isRunnable } = readThreads(this.#pid)
    this.#ms += isRunnable ? Math.min(passedMs, Math.max(0, cpuMs - this.#cpuMs)) : passedMs
    this.#readMono = nowMono
    this.#cpuMs = cpuMs
    return this.#ms
  }
}

/** Calls `expire` once this much of a process's time has passed. Returns the function that stops the timer. */
export function processTimeout(clock: ProcessClock, timeoutMs: number, expire: () => void): () => void {
  const endMs = clock.now() + timeoutMs
  const look = (): void => {
    const leftMs = endMs - clock.now()
    if (leftMs <= 0) expire()
    else timer = setTimeout(look, Math.min(leftMs, READING_MS))
  }
  let timer = setTimeout(look, Math.min(timeoutMs, READING_MS))
  return () => clearTimeout(timer)
}

/** The CPU time that the threads of a process have used, and true if one of them runs or waits for a CPU. */
function readThreads(pid: number): { readonly cpuMs: number; readonly isRunnable: boolean } {
  let cpuMs = 0
  let isRunnable = false
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const { fields } = readStat(`/proc/${pid}/task/${thread}/stat`)
      isRunnable ||= fields[0] === 'R'
      cpuMs += (Number(fields[11]) + Number(fields[12])) * TICK_MS
    }
  } catch {
    // There is no procfs, or a thread has just ended.
  }
  return { cpuMs, isRunnable }
}
