/**
 * Returns the monotonic time in milliseconds, the same in all threads of the machine. `performance.now()`, in
 * contrast, starts with its thread. The origin is arbitrary.
 */
export function steadyMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

/** A point in time on both clocks. */
export interface Instant {
  /** Wall-clock time in milliseconds since the epoch. An operator or time server may change it. */
  readonly wallMs: number
  /** Monotonic time from `steadyMs`. */
  readonly mono: number
}
