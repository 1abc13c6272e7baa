const CHECK_MS = 500
/** A check that comes this late shows that the supervisor itself was stopped, so nobody can be blamed for silence. */
const OWN_LATENESS_MS = 1500

/** Without a sign of life for so long a process is asked for one, and given up after the other time. */
export const ASK_AFTER_MS = 1000
export const SILENCE_MS = 4000

/** Why it was killed. */
export const SILENT = 'no heartbeat; its event loop hangs or its process is stopped'

/** A process that shows that it works. */
export interface Watched {
  /** Whether its event loop hangs or it is stopped. One that is still starting is not silent. */
  isSilent(): boolean
  /** Asks it for a sign of life, if it has been silent for a while. */
  askHeartbeat(): void
  /** Forgives the silence so far: it was the supervisor that did not listen. */
  excuseSilence(): void
}

/**
 * Finds processes that no longer send heartbeats: an event loop that hangs, or a stopped process. One that works is asked
 * before it is given up. `giveUp` kills it, and who has started it sees an exit like any other. Returns what ends the watch.
 */
export function watchSilence<T extends Watched>(
  watched: () => Iterable<T>,
  giveUp: (silent: T) => void,
): () => void {
  let dueMono = performance.now() + CHECK_MS
  const timer = setInterval(() => {
    const now = performance.now()
    const isLate = now - dueMono > OWN_LATENESS_MS
    dueMono = now + CHECK_MS
    for (const one of watched()) {
      if (isLate) one.excuseSilence()
      else if (one.isSilent()) giveUp(one)
      else one.askHeartbeat()
    }
  }, CHECK_MS)
  return () => clearInterval(timer)
}
