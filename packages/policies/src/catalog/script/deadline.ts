import { performance } from 'node:perf_hooks'

/** A process that gets no CPU is not the script's fault, but the other requests wait all the same. */
const LONGEST_FACTOR = 10
const US_PER_MS = 1000

/**
 * The end of a call's time. It counts the time of the CPU as soon as the clock on the wall says that it is over, so that
 * a busy machine fails no script that did little; at ten times the time it is over in any case.
 */
export class Deadline {
  readonly #ms: number
  #startMono = 0
  #halfCpu: NodeJS.CpuUsage | null = null
  /** The call was asked to end. */
  isPast = false

  constructor(ms: number) {
    this.#ms = ms
  }

  start(): void {
    this.isPast = false
    this.#startMono = performance.now()
    this.#halfCpu = null
  }

  /** Asked many times during a call that takes long, hardly ever during a short one. */
  check(): boolean {
    const elapsedMs = performance.now() - this.#startMono
    if (elapsedMs <= this.#ms / 2) return false
    // The CPU's time is read from the half on: reading it costs as much as a short call.
    this.#halfCpu ??= process.cpuUsage()
    if (elapsedMs <= this.#ms) return false
    this.isPast = elapsedMs > this.#ms * LONGEST_FACTOR || this.#cpuMs(this.#halfCpu) > this.#ms / 2
    return this.isPast
  }

  /** Of all threads of the process: never less than that of the call. */
  #cpuMs(from: NodeJS.CpuUsage): number {
    const { user, system } = process.cpuUsage(from)
    return (user + system) / US_PER_MS
  }
}
