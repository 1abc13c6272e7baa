/** Pauses a thread between two pieces of work. */
export type YieldCpu = () => Promise<void>

const YIELD_MS = 1

/**
 * Pauses between two pieces of work, unless the signal is aborted. Requests on the same core then wait for
 * one piece at most. The operating system would otherwise give a thread that has slept the core for
 * milliseconds.
 */
export function yieldCpu(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  // Does not react to the signal during the pause, because that would cost as much as the timer itself.
  return new Promise((resolve) => setTimeout(resolve, YIELD_MS))
}
