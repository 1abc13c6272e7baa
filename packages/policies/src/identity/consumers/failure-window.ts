import { LRUCache } from 'lru-cache'

/** Length of a window in seconds, and the `retry-after` of refusals. */
export const WINDOW_SECONDS = 60
/** Maximum number of addresses. The least recent one is evicted. */
const MAX_ADDRESSES = 10_000

interface Window {
  count: number
  readonly endsAt: number
}

/** Counts failed attempts per client address, in windows of one minute that start with the first failure. */
export class FailureWindow {
  readonly #windows = new LRUCache<string, Window>({ max: MAX_ADDRESSES })
  readonly #running = new Map<string, number>()

  /** Counts one failure. @param nowMs monotonic time in milliseconds. */
  add(ip: string, nowMs: number): void {
    const window = this.#windows.get(ip)
    if (window !== undefined && nowMs < window.endsAt) window.count++
    else this.#windows.set(ip, { count: 1, endsAt: nowMs + WINDOW_SECONDS * 1000 })
  }

  /** Returns the number of failures in the current window of an address. */
  count(ip: string, nowMs: number): number {
    const window = this.#windows.get(ip)
    return window !== undefined && nowMs < window.endsAt ? window.count : 0
  }

  /** Returns the number of failures including running attempts, which may all fail. */
  possible(ip: string, nowMs: number): number {
    return this.count(ip, nowMs) + (this.#running.get(ip) ?? 0)
  }

  /** Counts an attempt as running until it settles. */
  during<T>(ip: string, attempt: Promise<T>): Promise<T> {
    this.#running.set(ip, (this.#running.get(ip) ?? 0) + 1)
    return attempt.finally(() => {
      const left = this.#running.get(ip)! - 1
      if (left === 0) this.#running.delete(ip)
      else this.#running.set(ip, left)
    })
  }
}
