import { setTimeout as sleep } from 'node:timers/promises'
import { processStart } from './process-stat.js'

/** Extra time after the drain to flush the traffic log, in milliseconds. */
const GRACE_MS = 8000
const LOOK_MS = 50

/**
 * The workers of supervisors that this parent has started. Those of one that was killed serve on; the parent asks them to
 * leave when the next supervisor serves, and ends them before it ends itself. It needs no file for that.
 */
export class LeftBehind {
  /** Process id to its start. */
  #workers = new Map<number, string>()
  /** Time that they have to finish their requests. */
  drainMs = 0
  #isCut = false

  /** A supervisor has these workers. */
  note(pids: readonly number[], drainMs: number): void {
    this.drainMs = drainMs
    for (const pid of pids) {
      const start = processStart(pid)
      if (start !== null) this.#workers.set(pid, start)
    }
    this.#forgetEnded()
  }

  /** Asks all workers but these to finish their requests and end. */
  leave(besides: readonly number[] = []): void {
    this.#forgetEnded()
    for (const pid of this.#workers.keys()) if (!besides.includes(pid)) signal(pid, 'SIGTERM')
  }

  /** Resolves when no worker is left. Those that take longer than their drain are killed. */
  async end(): Promise<void> {
    this.leave()
    const endMono = performance.now() + this.drainMs + GRACE_MS
    while (this.#workers.size > 0) {
      if (this.#isCut || performance.now() > endMono)
        for (const pid of this.#workers.keys()) signal(pid, 'SIGKILL')
      await sleep(LOOK_MS)
      this.#forgetEnded()
    }
  }

  /** Has `end` kill them at once. */
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
    // It has ended meanwhile.
  }
}
