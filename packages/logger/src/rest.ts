import { setTimeout as sleep } from 'node:timers/promises'

/** A pause of a thread that has done a stretch of work. */
export type Rest = () => Promise<void>

/**
 * Waits; ends early with the signal. A log thread that works in stretches, with such waits between them, lets requests on
 * its core wait for one stretch at most: the system gives a thread that wakes up the core for milliseconds.
 */
export async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}
