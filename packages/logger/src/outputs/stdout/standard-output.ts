import { closeSync, constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { promisify } from 'node:util'

/** How a write ended: how many bytes were taken, and what was wrong when that were not all. */
export interface WriteOutcome {
  readonly taken: number
  readonly problem: string
}

/** Longest wait for a reader, ms; then the caller may do something else first. */
const PATIENCE_MS = 10_000
/** A full pipe is looked at again after these times, ms; nothing says when it has room. */
const FIRST_LOOK_MS = 2
const LONGEST_LOOK_MS = 100

const writeByPool = promisify(write)

/**
 * A standard output of the process, written past `process.stdout`, which in a thread goes through the main thread and
 * there waits for a full pipe. A pipe or terminal is opened again instead, so that it can be written without waiting
 * while all who inherited it keep theirs as it is. A file never waits; a socket is left to the thread pool.
 */
export class StandardOutput {
  readonly #inherited: number
  #opened: number | null = null
  /** Another user's pipe cannot be opened again. */
  #isForeign = false
  #isClosed = false

  constructor(descriptor: number) {
    this.#inherited = descriptor
  }

  /** Writes all, or as much as is taken; never throws. */
  async write(bytes: Buffer): Promise<WriteOutcome> {
    const startedMono = performance.now()
    let taken = 0
    let lookMs = FIRST_LOOK_MS
    while (taken < bytes.length) {
      if (this.#isClosed) return { taken, problem: 'the traffic log is closed' }
      try {
        taken += await this.#writeSome(bytes, taken)
        lookMs = FIRST_LOOK_MS
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code !== 'EAGAIN') return { taken, problem: this.#problemOf(error as NodeJS.ErrnoException) }
        if (performance.now() - startedMono > PATIENCE_MS)
          return { taken, problem: 'nobody reads the standard output' }
        await new Promise((resolve) => setTimeout(resolve, lookMs))
        lookMs = Math.min(LONGEST_LOOK_MS, lookMs * 2)
      }
    }
    return { taken, problem: '' }
  }

  /** Nothing is written any more; the inherited output stays open, as it is not ours. */
  close(): void {
    this.#isClosed = true
    this.#letGo()
  }

  #writeSome(bytes: Buffer, from: number): number | Promise<number> {
    const stat = fstatSync(this.#inherited)
    if (stat.isFile()) return writeSync(this.#inherited, bytes, from)
    if (process.platform === 'linux' && !stat.isSocket() && !this.#isForeign) {
      const opened = this.#openAnew()
      if (opened !== null) return writeSync(opened, bytes, from)
    }
    return writeByPool(this.#inherited, bytes, from, bytes.length - from, null).then(
      ({ bytesWritten }) => bytesWritten,
    )
  }

  #openAnew(): number | null {
    const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY
    try {
      this.#opened ??= openSync(`/proc/self/fd/${this.#inherited}`, flags)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
      this.#isForeign = true
    }
    return this.#opened
  }

  #problemOf({ code, message }: NodeJS.ErrnoException): string {
    this.#letGo()
    // A pipe without a reader cannot be opened (ENXIO) and cannot be written (EPIPE).
    if (code === 'EPIPE' || code === 'ENXIO') return 'the standard output is closed'
    return `the standard output cannot be written: ${message}`
  }

  #letGo(): void {
    if (this.#opened !== null) closeSync(this.#opened)
    this.#opened = null
  }
}
