import type { ProcessClock } from '../process/process-clock.js'

const CHECK_MS = 500

/** Silence in milliseconds after which a process is asked for a heartbeat. */
const ASK_AFTER_MS = 1000
/**
 * Silence in milliseconds after which a process is killed. After the first second, time spent waiting for a CPU
 * does not count.
 */
export const SILENCE_MS = 4000

/** Reason given when a silent process is killed. */
export const SILENCE_REASON = 'no heartbeat: the event loop hangs or the process is stopped'

/** Heartbeat tracking of one process. */
export class HeartbeatMonitor {
  readonly #clock: ProcessClock
  readonly #askAfterMs: number
  readonly #countedMs: number
  #lastSeenMono = performance.now()
  /** Process clock when the silence was noticed, or null. */
  #silentFromMs: number | null = null

  constructor(clock: ProcessClock, silenceMs = SILENCE_MS) {
    this.#clock = clock
    this.#askAfterMs = Math.min(ASK_AFTER_MS, silenceMs / 4)
    this.#countedMs = silenceMs - this.#askAfterMs
  }

  /** Notes a message from the process. */
  seen(): void {
    this.#lastSeenMono = performance.now()
    this.#silentFromMs = null
  }

  /** True if the process should be asked for a heartbeat. */
  get isQuiet(): boolean {
    return performance.now() - this.#lastSeenMono > this.#askAfterMs
  }

  /** Returns true if the event loop hangs or the process is stopped. Call it at every check. */
  isSilent(): boolean {
    if (!this.isQuiet) return false
    const nowMs = this.#clock.now()
    this.#silentFromMs ??= nowMs
    return nowMs - this.#silentFromMs > this.#countedMs
  }
}

/** A process monitored by `watchSilence`. */
export interface Watched {
  /**
   * Returns true if its event loop hangs or it is stopped. A process that is still starting is not silent.
   */
  isSilent(): boolean
  /** Asks for a heartbeat if the process has been quiet for a while. */
  askHeartbeat(): void
}

/**
 * Watches processes for missing heartbeats: a hung event loop or a stopped process. A quiet process is asked
 * first, then passed to `giveUp`, which kills it; its owner sees an ordinary exit. Returns a function that
 * stops the watch. The event loop reads pending messages between two checks, so a supervisor that was stopped
 * itself does not blame its workers.
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
