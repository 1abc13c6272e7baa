import { readFileSync, statSync } from 'node:fs'
import { messageOf, type StoredLimit, writePrivateFile } from '@sluice/core'
import { SharedMemory } from '../../state/shared-memory.js'
import type { OperationLog } from '../../telemetry/operation-log.js'
import { copyLimitsToParent } from '../parent/parent-copy.js'

/** Write interval in milliseconds. */
const EVERY_MS = 1000
/** Maximum share of time spent writing. Many quotas are therefore written less often. */
const MAX_SHARE = 1 / 20
/** Maximum file size in bytes. 100,000 quotas need less, so a larger file cannot be ours. */
const MAX_BYTES = 64 * 1024 ** 2

/**
 * Shared memory of all workers whose quotas survive a restart. They are stored per document in
 * `quotas-*.json` in the data directory.
 */
export class PersistentMemory extends SharedMemory {
  readonly #path: string
  readonly #log: OperationLog
  #savedRevision: number
  #timer: NodeJS.Timeout | null = null
  #isReplaced = false
  #hasFailed = false
  readonly #endCopies: () => void

  /** Reads the file if it exists. The parent process may send newer counts. */
  constructor(path: string, log: OperationLog) {
    super()
    this.#path = path
    this.#log = log
    this.persistent.restore(this.#read())
    this.#savedRevision = this.persistent.revision
    this.#endCopies = copyLimitsToParent(this)
  }

  /** Starts writing at intervals. */
  beginSaving(): void {
    this.#timer ??= this.#wait(EVERY_MS)
  }

  /** Stops writing: the counts are now in the file and memory of the next version. */
  leave(): void {
    this.#isReplaced = true
  }

  /** Writes the counts if they have changed. With a full disk, the next supervisor starts without them. */
  save(): void {
    const { revision } = this.persistent
    if (this.#isReplaced || revision === this.#savedRevision) return
    try {
      writePrivateFile(this.#path, JSON.stringify({ version: 1, quotas: this.persistent.limits() }))
      this.#savedRevision = revision
      this.#hasFailed = false
    } catch (error) {
      if (!this.#hasFailed) {
        const remedy = 'free disk space in the data directory'
        this.#log.warn('quota.not-kept', {
          reason: messageOf(error),
          remedy,
        })
      }
      this.#hasFailed = true
    }
  }

  close(): void {
    this.#endCopies()
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.save()
  }

  #wait(ms: number): NodeJS.Timeout {
    const onTime = (): void => {
      const begin = performance.now()
      this.save()
      this.#timer = this.#wait(Math.max(EVERY_MS, (performance.now() - begin) / MAX_SHARE))
    }
    return setTimeout(onTime, ms).unref()
  }

  /** Returns the stored counts; empty if the file is missing or not ours. */
  #read(): readonly StoredLimit[] {
    try {
      if (statSync(this.#path).size > MAX_BYTES) return []
      const { version, quotas }: { version?: unknown; quotas?: unknown } = Object(
        JSON.parse(readFileSync(this.#path, 'utf8')),
      )
      return version === 1 && Array.isArray(quotas) ? quotas.filter(isStored) : []
    } catch {
      return []
    }
  }
}

function isStored(value: unknown): value is StoredLimit {
  if (!Array.isArray(value) || value.length !== 5) return false
  const [key, ...numbers]: unknown[] = value
  return typeof key === 'string' && key.startsWith('quota') && numbers.every(Number.isFinite)
}
