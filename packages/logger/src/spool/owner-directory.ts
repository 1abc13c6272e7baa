import { makeFolders } from '@sluice/core'
import { newSpoolCount, type SpoolWatch } from '../queue/record-queue.js'
import { ownDirectory, removeEmpty } from './adoption.js'
import { OwnerLock } from './lock.js'
import { Mark } from './mark.js'

/** Files of an owner in the spool root: its lock, and its directory with the mark. */
export class OwnerDirectory {
  readonly #dir: string
  readonly #lock: OwnerLock
  readonly mark: Mark

  /**
   * @param isMade True if another thread of this process has created them. @throws The file system error,
   * leaving no files behind.
   */
  constructor(root: string, owner: string, isMade = false) {
    this.#dir = ownDirectory(root, owner)
    this.#lock = new OwnerLock(root, owner, isMade)
    try {
      // Created after the lock, because a directory without a lock counts as abandoned.
      makeFolders(this.#dir)
      this.mark = new Mark(this.#dir, isMade)
    } catch (error) {
      removeEmpty(this.#dir)
      this.#lock.release()
      throw error
    }
  }

  /** Updates the heartbeat. @throws The file system error. */
  touch(nowMs: number): void {
    this.#lock.touch(nowMs)
  }

  /** Releases the directory, so that others may take it over immediately. */
  release(): void {
    this.mark.remove()
    removeEmpty(this.#dir)
    this.#lock.release()
  }
}

/**
 * Creates an owner's directory before its thread starts, and saves the number of records there. The thread
 * may be starting or late, and the process can be killed at any moment.
 */
export class OwnerDirectoryWatch implements SpoolWatch {
  readonly count = newSpoolCount()
  /** Null if the directory cannot be created. The thread then retries and reports the problem. */
  readonly owner: string | null
  readonly #directory: OwnerDirectory | null
  /** Number of records at the previous check, and last number saved here. */
  #before = Number.POSITIVE_INFINITY
  #noted = 0

  constructor(root: string, owner: string) {
    this.#directory = directoryAt(root, owner)
    this.owner = this.#directory === null ? null : owner
  }

  note(encoded: number): boolean {
    // Later threads have their own directory, and the first one's count is closed.
    if (this.#directory === null || this.count[2]! > 1) return true
    // If the thread has saved the previous number, it will save this one, too.
    const isTimely = this.count[3]! >= this.#before
    this.#before = encoded
    if (!isTimely && this.#directory.mark.noteEncoded(encoded)) this.#noted = encoded
    return Math.max(this.count[3]!, this.#noted) >= encoded
  }

  close(): void {
    this.#directory?.mark.close()
  }
}

function directoryAt(root: string, owner: string): OwnerDirectory | null {
  try {
    return new OwnerDirectory(root, owner)
  } catch {
    return null
  }
}
