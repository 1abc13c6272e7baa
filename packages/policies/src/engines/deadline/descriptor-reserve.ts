import { closeSync, openSync } from 'node:fs'
import { PolicyFailure } from '@sluice/core'

/** What the timeout of `node:vm` opens: 4 descriptors in Node.js 20, 5 in Node.js 22. Without them it aborts the process. */
const NEEDED = 6

/**
 * Descriptors that are kept open so that there are some to give: whatever connections and files take meanwhile, the
 * timeout of `node:vm` finds its own. Costs some 10 µs a call.
 */
export class DescriptorReserve {
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
