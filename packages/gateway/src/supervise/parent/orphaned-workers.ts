import { setTimeout as sleep } from 'node:timers/promises'
import { processStart } from '@sluice/core/process-stat'

/** Extra time after the drain to flush the traffic log, in milliseconds. */
const GRACE_MS = 8000
const POLL_MS = 50

/**
 * Workers of all supervisors that this parent has started. Workers of a killed supervisor keep serving. The
 * parent asks them to exit once the next supervisor is serving, and stops them before it exits itself. No
 * file is needed for that.
 */
export class OrphanedWorkers {
  /** Start time by process id, to detect reused ids. */
  #workers = new Map<number, string>()
  /** Time in milliseconds for requests in flight to finish. */
  drainMs = 0
  #isCut = false

  /** Records the workers of a supervisor. */
  note(pids: readonly number[], drainMs: number): void {
    this.drainMs = drainMs
    for (const pid of pids) {
      const start = processStart(pid)
      if (start !== null) this.#workers.set(pid, start)
    }
    this.#forgetEnded()
  }

  /** Asks all workers except these to finish their requests and exit. */
  leave(besides: readonly number[] = []): void {
    this.#forgetEnded()
    for (const pid of this.#workers.keys()) if (!besides.includes(pid)) signal(pid, 'SIGTERM')
  }

  /** Resolves when no worker is left. Workers that exceed their drain time are killed. */
  async end(): Promise<void> {
    this.leave()
    const endMono = performance.now() + this.drainMs + GRACE_MS
    while (this.#workers.size > 0) {
      if (this.#isCut || performance.now() > endMono)
        for (const pid of this.#workers.keys()) signal(pid, 'SIGKILL')
      await sleep(POLL_MS)
      this.#forgetEnded()
    }
  }

  /** Makes `end` kill the workers immediately. */
  cut(): void {
    this.#isCut = true
  }

  #forgetEnded(): void {
    for (const [pid, start] of this.#workers) if (processStart(pid) !== start) this.#workers.delete(pid)
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has exited meanwhile.
  }
}
