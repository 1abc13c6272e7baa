import { ENDING_SIGNALS } from '../commands/until-signal.js'

/** Told to stop gently the first time, at once the second time. */
export interface Interruption {
  /** Aborts with the first signal. */
  readonly signal: AbortSignal
  /** From now on signals do what they always do. */
  end(): void
}

/**
 * Listens to the signals that end a process.
 * @param onFirst the first one came; the work under way may end.
 * @param onSecond another one came; must not return to the work.
 */
export function listenForInterruption(onFirst: () => void, onSecond: () => void): Interruption {
  const stop = new AbortController()
  const act = (): void => {
    if (stop.signal.aborted) onSecond()
    else {
      stop.abort()
      onFirst()
    }
  }
  for (const name of ENDING_SIGNALS) process.on(name, act)
  const end = (): void => {
    for (const name of ENDING_SIGNALS) process.off(name, act)
  }
  return { signal: stop.signal, end }
}
