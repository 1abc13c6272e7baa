import { performance } from 'node:perf_hooks'
import type { CompileEnv, Exchange } from '@sluice/core'

/** Maximum share of the event loop's time for signature checks. The rest is for everything else. */
const LOOP_SHARE = 0.5
/** Maximum accumulated time, in milliseconds: the longest delay that checks can cause for other requests. */
const MAX_CREDIT_MS = 10
/**
 * Maximum number of running checks: half of libuv's thread pool. Passwords, DNS lookups and files need the other
 * half.
 */
const MAX_RUNNING = 2
/** Maximum number of waiting checks. At 0.1 ms for an ECDSA or RSA signature the last one waits about 15 ms. */
const MAX_WAITING = 256

/** A check that can run in either way. The promise must not reject for a wrong signature. */
export interface Check<T> {
  now(): T
  later(): Promise<T>
}

interface Waiting {
  readonly x: Pick<Exchange, 'endedMono'>
  start(): void
  drop(): void
}

/**
 * Schedules all signature checks of a worker, because callers without credentials can cause them:
 *
 *     run ─► on the event loop, while checks took less than half of its time
 *         ─► on libuv's threads: MAX_RUNNING at once, MAX_WAITING in the queue
 *         ─► not at all: the request is refused
 */
export class SignatureChecks {
  readonly #nowMs: () => number
  #credit = MAX_CREDIT_MS
  #creditAt: number
  #running = 0
  readonly #waiting: Waiting[] = []

  /** Creates the scheduler. @param nowMs monotonic clock in milliseconds. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
    this.#creditAt = nowMs()
  }

  /** Runs a check. Returns its result, or null if the queue is full. */
  run<T>(x: Pick<Exchange, 'endedMono'>, check: Check<T>): T | Promise<T | null> | null {
    return this.hasTime() ? this.spend(() => check.now()) : this.runLater(x, check)
  }

  /** Returns true if the event loop has time for a check now. */
  hasTime(): boolean {
    const nowMs = this.#nowMs()
    this.#credit = Math.min(MAX_CREDIT_MS, this.#credit + (nowMs - this.#creditAt) * LOOP_SHARE)
    this.#creditAt = nowMs
    return this.#credit > 0
  }

  /** Runs a check on the event loop and counts its time. */
  spend<T>(check: () => T): T {
    const startMs = this.#nowMs()
    try {
      return check()
    } finally {
      this.#credit -= this.#nowMs() - startMs
    }
  }

  /** Like run, for inputs so long that they never run on the event loop. */
  runLater<T>(x: Waiting['x'], check: Check<T>): Promise<T | null> | null {
    if (this.#running < MAX_RUNNING) return this.#start(check)
    if (this.#waiting.length >= MAX_WAITING) return null
    return new Promise((resolve) => {
      this.#waiting.push({ x, start: () => resolve(this.#start(check)), drop: () => resolve(null) })
    })
  }

  async #start<T>(check: Check<T>): Promise<T> {
    this.#running++
    try {
      return await check.later()
    } finally {
      this.#running--
      this.#startNext()
    }
  }

  /** Starts the next waiting check. Skips requests that have ended. */
  #startNext(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (next.x.endedMono === 0) {
        next.start()
        return
      }
      next.drop()
    }
  }
}

/** Returns the scheduler of this worker. */
export function signatureChecks(env: CompileEnv): SignatureChecks {
  return env.shared('signature-checks', () => new SignatureChecks())
}
