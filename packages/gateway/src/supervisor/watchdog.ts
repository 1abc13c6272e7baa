import type { ProcessClock } from './process-clock.js'

const CHECK_MS = 500

/** A process that has been silent for this long is asked for a sign of life. */
const ASK_AFTER_MS = 1000
/** A process is given up after this much silence. Behind the first second, time in which it waits for a CPU does not count. */
export const SILENCE_MS = 4000

/** Why it was killed. */
export const SILENT = 'no heartbeat; its event loop hangs or its process is stopped'

/** The signs of life of one process. */
export class SignsOfLife {
  readonly #clock: ProcessClock
  readonly #askAfterMs: number
  readonly #countedMs: number
  #lastSeenMono = performance.now()
  /** Process time when the silence was noticed, or null. */
  #silentFromMs: number | null = null

  constructor(clock: ProcessClock, silenceMs = SILENCE_MS) {
    this.#clock = clock
    this.#askAfterMs = Math.min(ASK_AFTER_MS, silenceMs / 4)
    this.#countedMs = silenceMs - this.#askAfterMs
  }

  /** The process has sent something. */
  seen(): void {
    this.#lastSeenMono = performance.now()
    this.#silentFromMs = null
  }

  /** True if it has to be asked for a sign of life. */
  get isQuiet(): boolean {
    return performance.now() - this.#lastSeenMono > this.#askAfterMs
  }

  /** True if its event loop hangs or it is stopped. Call it at every check of the watch. */
  isSilent(): boolean {
    if (!this.isQuiet) return false
    const nowMs = this.#clock.now()
    this.#silentFromMs ??= nowMs
    return nowMs - this.#silentFromMs > this.#countedMs
  }
}

/** A process that shows that it works. */
export interface Watched {
  /** True if its event loop hangs or it is stopped. One that is still starting is not silent. */
  isSilent(): boolean
  /** Asks it for a sign of life, if it has been silent for a while. */
  askHeartbeat(): void
}

/**
 * Finds processes that no longer send heartbeats: an event loop that hangs, or a stopped process. One that works is asked
 * before it is given up. `giveUp` kills it, and who has started it sees an exit like any other. Returns what ends the watch.
 * Between two checks the event loop reads what has arrived, so a supervisor that was stopped itself blames nobody.
 */
export function watchSilence<T extends Watched>(
  watched: () => Iterable<T>,
  giveUp: (silent: T) => void,
): () => void {
  const timer = setInterval(() => {
    for (const one of watched()) {
      if (one.isSilent()) giveUp(one)
      else one.askHeartbeat()
    }
  }, CHECK_MS)
  return () => clearInterval(timer)
}
