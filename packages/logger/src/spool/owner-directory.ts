import { makeFolders } from '@sluice/core'
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
