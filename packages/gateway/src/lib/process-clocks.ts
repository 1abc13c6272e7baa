import { performance } from 'node:perf_hooks'

/** Clock readings in milliseconds, taken together: the monotonic clock and the CPU time of the process. */
export interface Clocks {
  readonly mono: number
  readonly cpuMs: number
}

/** Reads the clocks of this process. */
export function processClocks(): Clocks {
  const { user, system } = process.cpuUsage()
  return { mono: performance.now(), cpuMs: (user + system) / 1000 }
}

/** Returns the time between two readings, as far as the process had a CPU, in milliseconds. */
export function workBetween(from: Clocks, to: Clocks): number {
  return Math.min(to.mono - from.mono, to.cpuMs - from.cpuMs)
}
