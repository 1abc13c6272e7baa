import { closeSync, constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { promisify } from 'node:util'

/** Result of a write: number of bytes written, and the problem if not all were. */
export interface WriteOutcome {
  readonly taken: number
  readonly problem: string
}

/** Maximum wait for a reader in milliseconds. */
const PATIENCE_MS = 10_000
/** Polling intervals for a full pipe in milliseconds. The system does not signal when it has room. */
const MIN_POLL_MS = 2
const MAX_POLL_MS = 100

const writeByPool = promisify(write)

/**
 * Writes to standard output without `process.stdout`. In a thread, that stream passes data to the main
 * thread, which blocks on a full pipe. A pipe or terminal is reopened in non-blocking mode, so other
 * processes that inherited it are not affected. Writing to a file never blocks; writing to a socket is done
 * in the thread pool.
 */
export class StandardOutput {
  readonly #inherited: number
  #opened: number | null = null
  /** True if the pipe belongs to another user and cannot be reopened. */
  #isForeign = false
  #isClosed = false

  constructor(descriptor: number) {
    this.#inherited = descriptor
  }

  /** Writes all bytes, or as many as are accepted. Never throws. */
  async write(bytes: Buffer): Promise<WriteOutcome> {
    const startedMono = performance.now()
    let taken = 0
    let pollMs = MIN_POLL_MS
    while (taken < bytes.length) {
      if (this.#isClosed) return { taken, problem: 'the traffic log is closed' }
      try {
        taken += await this.#writeSome(bytes, taken)
        pollMs = MIN_POLL_MS
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code !== 'EAGAIN') return { taken, problem: this.#problemOf(error as NodeJS.ErrnoException) }
        if (performance.now() - startedMono > PATIENCE_MS)
          return { taken, problem: 'no process reads the standard output' }
        await new Promise((resolve) => setTimeout(resolve, pollMs))
        pollMs = Math.min(MAX_POLL_MS, pollMs * 2)
      }
    }
    return { taken, problem: '' }
  }

  /** Stops writing. The inherited descriptor stays open. */
  close(): void {
    this.#isClosed = true
    this.#closeOpened()
  }

  #writeSome(bytes: Buffer, from: number): number | Promise<number> {
    const stat = fstatSync(this.#inherited)
    if (stat.isFile()) return writeSync(this.#inherited, bytes, from)
    if (process.platform === 'linux' && !stat.isSocket() && !this.#isForeign) {
      const opened = this.#reopen()
      if (opened !== null) return writeSync(opened, bytes, from)
    }
    return writeByPool(this.#inherited, bytes, from, bytes.length - from, null).then(
      ({ bytesWritten }) => bytesWritten,
    )
  }

  #reopen(): number | null {
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
    this.#closeOpened()
    // A pipe without a reader cannot be opened (ENXIO) or written (EPIPE).
    if (code === 'EPIPE' || code === 'ENXIO') return 'the standard output is closed'
    return `cannot write to the standard output: ${message}`
  }

  #closeOpened(): void {
    if (this.#opened !== null) closeSync(this.#opened)
    this.#opened = null
  }
}
