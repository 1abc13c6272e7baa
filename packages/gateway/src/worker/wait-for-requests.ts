import { setTimeout as delay } from 'node:timers/promises'

/** How often it is looked whether the last request has ended. */
const POLL_MS = 20
/**
 * Behind the last one, 260 ms: requests that were already on their way, and those of clients that have just got an
 * answer. Counted in looks, as a process that gets no processor meanwhile reads no requests either.
 */
const IDLE_POLLS = 13

/**
 * Waits until nothing has been under way for a moment, or for the deadline.
 * @param underWay how many requests are.
 * @param deadlineMono on the monotonic clock, ms; it may come nearer meanwhile.
 */
export async function waitForRequests(underWay: () => number, deadlineMono: () => number): Promise<void> {
  let idlePolls = 0
  while (idlePolls < IDLE_POLLS && performance.now() < deadlineMono()) {
    await delay(POLL_MS)
    idlePolls = underWay() > 0 ? 0 : idlePolls + 1
  }
}
