import { closeSync, openSync } from 'node:fs'
import { createContext, Script } from 'node:vm'
import { PolicyFailure } from '@sluice/core'

/** What the timeout of `node:vm` opens: 4 descriptors in Node.js 20, 5 in Node.js 22. Without them it aborts the process. */
const NEEDED = 6

/**
 * Descriptors that are kept open so that there are some to give: whatever connections and files take meanwhile, the
 * timeout of `node:vm` finds its own. Costs some 10 µs a call.
 */
class DescriptorReserve {
  readonly #kept: number[] = []

  /** @throws PolicyFailure 503 while the process has no descriptors left. */
  fill(): void {
    try {
      while (this.#kept.length < NEEDED) this.#kept.push(openSync('/dev/null', 'r'))
    } catch (error) {
      throw new PolicyFailure('GW_OVERLOADED', 'the gateway is overloaded; try again', String(error))
    }
  }

  /** Gives them for what `run` needs, and takes as many back as there are then. */
  lend<T>(run: () => T): T {
    this.fill()
    for (const descriptor of this.#kept.splice(0)) closeSync(descriptor)
    try {
      return run()
    } finally {
      try {
        this.fill()
      } catch {
        // The next call says so.
      }
    }
  }
}

const US_PER_MS = 1000

/** The call did not end in time, and was stopped in the middle: what it ran in is not to be used again. */
export class TimeIsOver extends Error {
  /** The machine gave the process too little CPU for the call to be blamed. */
  readonly isStarved: boolean

  constructor(isStarved: boolean) {
    super('it took longer than it may')
    this.isStarved = isStarved
  }
}

let current: () => unknown
const CONTEXT = createContext({ run: () => current() })
const CALL = new Script('run()')

/** Of this thread. */
export const DESCRIPTORS = new DescriptorReserve()

/**
 * Runs something that never waits, and stops it wherever it is when its time is over, inside WebAssembly too. Nothing
 * of it goes on then, `finally` blocks neither. Costs some 50 µs of CPU: Node.js starts a thread that watches.
 * @throws TimeIsOver; PolicyFailure where there are no descriptors for that thread; else what `run` throws
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
    // The limit is one of the clock. The CPU's time is that of all threads: never less than that of the call.
    const { user, system } = process.cpuUsage(startCpu)
    throw new TimeIsOver((user + system) / US_PER_MS < timeoutMs / 2)
  }
}
