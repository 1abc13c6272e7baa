import { performance } from 'node:perf_hooks'

/**
 * Maximum wall clock time as a multiple of the CPU time limit. Other requests wait even if the script gets no
 * CPU.
 */
const MAX_WALL_CLOCK_FACTOR = 10
const US_PER_MS = 1000

/**
 * Deadline of a call. After the wall clock limit it compares CPU time, so that a busy machine does not fail a
 * fast script. At ten times the limit, the call ends in any case.
 */
export class Deadline {
  readonly #ms: number
  #startMono = 0
  #halfCpu: NodeJS.CpuUsage | null = null
  /** True if the call was told to end. */
  isPast = false

  constructor(ms: number) {
    this.#ms = ms
  }

  start(): void {
    this.isPast = false
    this.#startMono = performance.now()
    this.#halfCpu = null
  }

  /** Returns true if the deadline has passed. Called often during a long call, rarely during a short one. */
  check(): boolean {
    const elapsedMs = performance.now() - this.#startMono
    if (elapsedMs <= this.#ms / 2) return false
    // Reads CPU time only after half the limit, because that costs as much as a short call.
    this.#halfCpu ??= process.cpuUsage()
    if (elapsedMs <= this.#ms) return false
    this.isPast = elapsedMs > this.#ms * MAX_WALL_CLOCK_FACTOR || this.#cpuMs(this.#halfCpu) > this.#ms / 2
    return this.isPast
  }

  /** CPU time of all threads of the process, an upper bound for that of the call. */
  #cpuMs(from: NodeJS.CpuUsage): number {
    const { user, system } = process.cpuUsage(from)
    return (user + system) / US_PER_MS
  }
}
