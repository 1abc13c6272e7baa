import { performance } from 'node:perf_hooks'
import type { CompileEnv, Exchange } from '@sluice/core'

/** Part of the event loop's time that checks may take; the rest is for everything else that a worker does. */
const LOOP_SHARE = 0.5
/** What may be saved up: so long do checks hold up other requests at most. */
const MAX_CREDIT_MS = 10
/** Half of libuv's thread pool: passwords, name look-ups and files need the other half. */
const MAX_RUNNING = 2
/** At 0.1 ms for an ECDSA or RSA signature the last one waits some 15 ms. */
const MAX_WAITING = 256

/** One check, in both ways it can be made. The promise must not reject for a wrong signature. */
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
 * Where signatures of callers are checked, all of a worker's: a caller needs no credentials to have one checked.
 *
 *     run ─► on the event loop, while checks took less than half of its time
 *         ─► on libuv's threads, MAX_RUNNING at a time, MAX_WAITING waiting
 *         ─► not at all: the request is refused
 */
export class SignatureChecks {
  readonly #nowMs: () => number
  #credit = MAX_CREDIT_MS
  #creditAt: number
  #running = 0
  readonly #waiting: Waiting[] = []

  /** @param nowMs a monotonic clock. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
    this.#creditAt = nowMs()
  }

  /** What the check found, or null when it is not made: as many wait for a thread as may. */
  run<T>(x: Pick<Exchange, 'endedMono'>, check: Check<T>): T | Promise<T | null> | null {
    return this.hasTime() ? this.spend(() => check.now()) : this.runLater(x, check)
  }

  /** Whether the event loop has time for a check now. */
  hasTime(): boolean {
    const nowMs = this.#nowMs()
    this.#credit = Math.min(MAX_CREDIT_MS, this.#credit + (nowMs - this.#creditAt) * LOOP_SHARE)
    this.#creditAt = nowMs
    return this.#credit > 0
  }

  /** Runs a check on the event loop, and counts its time. */
  spend<T>(check: () => T): T {
    const startMs = this.#nowMs()
    try {
      return check()
    } finally {
      this.#credit -= this.#nowMs() - startMs
    }
  }

  /** Like run, for inputs so long that the event loop never has time for them. */
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

  /** Requests that have ended meanwhile are passed over. */
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

/** The checks of this worker. */
export function signatureChecks(env: CompileEnv): SignatureChecks {
  return env.shared('signature-checks', () => new SignatureChecks())
}
