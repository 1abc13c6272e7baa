import { setTimeout as delay } from 'node:timers/promises'
import type { Listener } from '../listen/listener.js'

/** Poll interval in milliseconds. */
const POLL_MS = 20
/**
 * Number of idle polls before the drain ends: 260 ms, for requests already on their way and from clients that
 * just got a response. Counted in polls, because a starved process does not read requests either.
 */
const IDLE_POLLS = 13

/**
 * Waits until no request has been in flight for a moment, or until the deadline.
 * @param underWay returns the number of requests in flight.
 * @param deadlineMono returns the deadline on the monotonic clock in milliseconds; it may move closer.
 */
export async function drainInFlight(underWay: () => number, deadlineMono: () => number): Promise<void> {
  let idlePolls = 0
  while (idlePolls < IDLE_POLLS && performance.now() < deadlineMono()) {
    await delay(POLL_MS)
    idlePolls = underWay() > 0 ? 0 : idlePolls + 1
  }
}

/** Returns the number of open connections of all listeners. */
export function openConnections(listeners: readonly Listener[]): number {
  return listeners.reduce((sum, listener) => sum + listener.connections(), 0)
}
