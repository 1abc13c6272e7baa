import { performance } from 'node:perf_hooks'

interface PendingTimer {
  /** Time at which it fires, on the shifted monotonic clock. */
  dueMono: number
  /** Interval in milliseconds, or null if it fires once. */
  readonly everyMs: number | null
  readonly fire: () => void
}

/** Maximum number of timers that fire in one move of the clock. */
const MAX_FIRED = 10_000

const real = {
  Date,
  now: Date.now,
  monotonic: performance.now.bind(performance),
  setTimeout,
  setInterval,
  clearTimeout,
  clearInterval,
}

/** Timer functions that are not affected by a fake clock. */
export const realTimers = {
  now: real.monotonic,
  setTimeout: real.setTimeout,
  clearTimeout: real.clearTimeout,
}

/**
 * Shifts `Date`, `performance.now` and timers of this process. Real time also passes, so that nothing hangs.
 *
 *     Date              = real time + shift, set for each case
 *     performance.now   = real time + shift, which only grows
 *     timers            fire in real time, or early when the clock moves past them
 */
export class FakeClock {
  #dateShiftMs = 0
  #monoShiftMs = 0
  readonly #timers = new Map<NodeJS.Timeout, PendingTimer>()

  constructor() {
    const now = (): number => real.now() + this.#dateShiftMs
    globalThis.Date = new Proxy(real.Date, {
      construct: (target, args, newTarget) =>
        Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
      apply: () => new real.Date(now()).toString(),
      get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
    })
    performance.now = (): number => real.monotonic() + this.#monoShiftMs
    this.#replaceTimers()
  }

  /** Sets the date; null for the real one. */
  setDate(ms: number | null): void {
    this.#dateShiftMs = ms === null ? 0 : ms - real.now()
  }

  /** Moves the clock forward. Timers that become due fire in their order; a repeated one fires once. */
  async advance(ms: number): Promise<void> {
    const dateShiftMs = this.#dateShiftMs + ms
    const untilMono = performance.now() + ms
    const fired = new Set<PendingTimer>()
    for (let i = 0; i < MAX_FIRED; i++) {
      const next = this.#nextDue(untilMono, fired)
      if (next === null) break
      fired.add(next)
      this.#shift(Math.max(0, next.dueMono - performance.now()))
      next.fire()
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#shift(Math.max(0, untilMono - performance.now()))
    this.#dateShiftMs = Math.max(this.#dateShiftMs, dateShiftMs)
    // Deadlines of requests share one repeated timer, which may have fired before the end.
    for (const timer of fired) if (timer.everyMs !== null) timer.fire()
    await new Promise((resolve) => setImmediate(resolve))
  }

  /** Restores the clocks of the process. */
  close(): void {
    globalThis.Date = real.Date
    performance.now = real.monotonic
    for (const name of ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] as const)
      Object.assign(globalThis, { [name]: real[name] })
    this.#timers.clear()
  }

  #shift(ms: number): void {
    this.#dateShiftMs += ms
    this.#monoShiftMs += ms
  }

  #nextDue(untilMono: number, fired: ReadonlySet<PendingTimer>): PendingTimer | null {
    let next: PendingTimer | null = null
    for (const timer of this.#timers.values()) {
      if (timer.dueMono > untilMono || fired.has(timer)) continue
      if (next === null || timer.dueMono < next.dueMono) next = timer
    }
    return next
  }

  #replaceTimers(): void {
    const create =
      (start: typeof setTimeout, isRepeated: boolean) =>
      (run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): NodeJS.Timeout => {
        const timer: PendingTimer = {
          dueMono: performance.now() + ms,
          everyMs: isRepeated ? Math.max(1, ms) : null,
          fire: () => {
            if (!this.#timers.has(handle)) return
            if (!isRepeated) real.clearTimeout(handle)
            onTime()
          },
        }
        const onTime = (): void => {
          if (timer.everyMs === null) this.#timers.delete(handle)
          else timer.dueMono = performance.now() + timer.everyMs
          run(...args)
        }
        const handle = start(onTime, ms)
        this.#timers.set(handle, timer)
        return handle
      }
    const clear = (handle?: NodeJS.Timeout | string | number): void => {
      this.#timers.delete(handle as NodeJS.Timeout)
      real.clearTimeout(handle)
    }
    const timeout = create(real.setTimeout, false)
    // Keeps the form for util.promisify.
    Object.defineProperties(timeout, Object.getOwnPropertyDescriptors(real.setTimeout))
    Object.assign(globalThis, {
      setTimeout: timeout,
      setInterval: create(real.setInterval as typeof setTimeout, true),
      clearTimeout: clear,
      clearInterval: clear,
    })
  }
}
