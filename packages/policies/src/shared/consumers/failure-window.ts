import { LRUCache } from 'lru-cache'

/** Length of a window, and what `retry-after` says when it is full. */
export const WINDOW_SECONDS = 60
/** Addresses remembered; the one that failed longest ago is forgotten first. */
const MAX_ADDRESSES = 10_000

interface Window {
  count: number
  readonly endsAt: number
}

/** Counts failed attempts per client address, in windows of one minute that begin with the first failure. */
export class FailureWindow {
  readonly #windows = new LRUCache<string, Window>({ max: MAX_ADDRESSES })
  readonly #running = new Map<string, number>()

  /** Counts one failure. @param nowMs monotonic. */
  add(ip: string, nowMs: number): void {
    const window = this.#windows.get(ip)
    if (window !== undefined && nowMs < window.endsAt) window.count++
    else this.#windows.set(ip, { count: 1, endsAt: nowMs + WINDOW_SECONDS * 1000 })
  }

  /** Failures in the address's current window. */
  count(ip: string, nowMs: number): number {
    const window = this.#windows.get(ip)
    return window !== undefined && nowMs < window.endsAt ? window.count : 0
  }

  /** The same, with the attempts under way, which may all fail. */
  possible(ip: string, nowMs: number): number {
    return this.count(ip, nowMs) + (this.#running.get(ip) ?? 0)
  }

  /** Counts an attempt as under way until its result has been handled. */
  during<T>(ip: string, attempt: Promise<T>): Promise<T> {
    this.#running.set(ip, (this.#running.get(ip) ?? 0) + 1)
    return attempt.finally(() => {
      const left = this.#running.get(ip)! - 1
      if (left === 0) this.#running.delete(ip)
      else this.#running.set(ip, left)
    })
  }
}
