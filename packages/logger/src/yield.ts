/** A pause of a thread that has done a stretch of work. */
export type YieldCpu = () => Promise<void>

const YIELD_MS = 1

/**
 * A pause between two stretches of work; none once the signal is given. A log thread that works in stretches lets requests
 * on its core wait for one of them at most: the system gives a thread that has slept the core for milliseconds.
 */
export function yieldCpu(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  // One that ends early with the signal would cost as much as the timer itself.
  return new Promise((resolve) => setTimeout(resolve, YIELD_MS))
}
