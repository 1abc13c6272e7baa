import { setTimeout as delay } from 'node:timers/promises'

/** How often it is looked whether the last request has ended. */
const POLL_MS = 20
/** Behind the last one: requests that were already on their way, and those of clients that have just got an answer. */
const LINGER_MS = 250

/**
 * Waits until nothing has been under way for a moment, or for the deadline.
 * @param underWay how many requests are.
 * @param deadlineMono on the monotonic clock, ms; it may come nearer meanwhile.
 */
export async function waitForRequests(underWay: () => number, deadlineMono: () => number): Promise<void> {
  let nowMono = performance.now()
  let quietMono = nowMono + LINGER_MS
  while (nowMono < Math.min(quietMono, deadlineMono())) {
    await delay(POLL_MS)
    nowMono = performance.now()
    if (underWay() > 0) quietMono = nowMono + LINGER_MS
  }
}
