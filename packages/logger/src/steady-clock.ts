/**
 * Milliseconds of a clock that never steps, the same in all threads of the machine (`performance.now()` begins with its
 * thread). Its zero means nothing.
 */
export function steadyMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

/** A moment: as people and files write it, and for durations. */
export interface Instant {
  /** ms since the epoch; an operator or a time server may set it forward or back. */
  readonly wallMs: number
  /** By `steadyMs`. */
  readonly mono: number
}
