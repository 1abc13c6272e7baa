import { closeSync, openSync } from 'node:fs'
import { createContext, Script } from 'node:vm'
import { PolicyFailure } from '@sluice/core'

/**
 * File descriptors that the timeout of `node:vm` opens: 4 in Node.js 20, 5 in Node.js 22. Node.js aborts the process
 * if they are missing.
 */
const NEEDED = 6

/**
 * File descriptors held in reserve, so that the timeout of `node:vm` always gets its own, whatever connections and
 * files use up. Costs about 10 µs per call.
 */
class DescriptorReserve {
  readonly #kept: number[] = []

  /** Opens descriptors until the reserve is full. @throws PolicyFailure 503 if the process has no descriptors left. */
  fill(): void {
    try {
      while (this.#kept.length < NEEDED) this.#kept.push(openSync('/dev/null', 'r'))
    } catch (error) {
      throw new PolicyFailure('GW_OVERLOADED', 'the gateway is overloaded; try again', String(error))
    }
  }

  /** Releases the descriptors while `run` executes, then refills the reserve as far as possible. */
  lend<T>(run: () => T): T {
    this.fill()
    for (const descriptor of this.#kept.splice(0)) closeSync(descriptor)
    try {
      return run()
    } finally {
      try {
        this.fill()
      } catch {
        // The next call reports it.
      }
    }
  }
}

const US_PER_MS = 1000

/** Thrown when a call exceeds its time limit. The call was stopped midway, so its engine must not be used again. */
export class TimeLimitExceeded extends Error {
  /** True if the machine gave the process too little CPU time to blame the call. */
  readonly isStarved: boolean

  constructor(isStarved: boolean) {
    super('the call exceeded its time limit')
    this.isStarved = isStarved
  }
}

let current: () => unknown
const CONTEXT = createContext({ run: () => current() })
const CALL = new Script('run()')

/** Descriptor reserve of this thread. */
export const DESCRIPTORS = new DescriptorReserve()

/**
 * Runs a synchronous function and stops it when its time is over, even inside WebAssembly. Nothing of it continues,
 * not even `finally` blocks. Costs about 50 µs of CPU, because Node.js starts a watchdog thread.
 * @throws TimeLimitExceeded; PolicyFailure if there are no descriptors for the watchdog thread; otherwise what `run`
 * throws
 */
export function runWithTimeout<T>(timeoutMs: number, run: () => T): T {
  const startCpu = process.cpuUsage()
  current = run
  try {
    return DESCRIPTORS.lend(
      () => CALL.runInContext(CONTEXT, { timeout: Math.ceil(timeoutMs), displayErrors: false }) as T,
    )
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    // The timeout is wall-clock time. CPU time covers all threads, so it is never less than that of the call.
    const { user, system } = process.cpuUsage(startCpu)
    throw new TimeLimitExceeded((user + system) / US_PER_MS < timeoutMs / 2)
  }
}
