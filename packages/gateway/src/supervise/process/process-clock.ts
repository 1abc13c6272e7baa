import { readdirSync } from 'node:fs'
import { readStat } from '@sluice/core/process-stat'

/**
 * Maximum time that one reading adds, in milliseconds. If the supervisor reads late, it was stopped itself.
 */
export const READING_MS = 500
/** The kernel counts CPU time in steps of this many milliseconds (USER_HZ, proc(5)). */
const TICK_MS = 10

/**
 * Clock of another process, in milliseconds. It stands still while the process waits for a CPU, so that a
 * starved process is not mistaken for a hung one. While a thread is runnable, it advances by the process's
 * CPU time. While all threads sleep or are stopped, it advances in real time. Read it at least every
 * `READING_MS`. Without procfs it always advances in real time.
 */
export class ProcessClock {
  readonly #pid: number
  #ms = 0
  #readMono = performance.now()
  #cpuMs = 0

  constructor(pid: number) {
    this.#pid = pid
  }

  /** Returns the elapsed time in milliseconds. */
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

/**
 * Calls `expire` once the process's clock has advanced by the timeout. Returns a function that stops the
 * timer.
 */
export function processTimeout(clock: ProcessClock, timeoutMs: number, expire: () => void): () => void {
  const endMs = clock.now() + timeoutMs
  const check = (): void => {
    const leftMs = endMs - clock.now()
    if (leftMs <= 0) expire()
    else timer = setTimeout(check, Math.min(leftMs, READING_MS))
  }
  let timer = setTimeout(check, Math.min(timeoutMs, READING_MS))
  return () => clearTimeout(timer)
}

/** Returns the CPU time used by a process's threads, and true if one of them runs or waits for a CPU. */
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
