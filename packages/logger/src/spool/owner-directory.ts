import { makeFolders } from '@sluice/core'
import { newSpoolCount, type SpoolWatch } from '../queue/record-queue.js'
import { ownDirectory, removeEmpty } from './adoption.js'
import { type CountPage, createCountPage, removeCountPage } from './count-page.js'
import { OwnerLock } from './lock.js'
import { Mark } from './mark.js'

/** Files of an owner in the spool root: its lock, and its directory with the mark. */
export class OwnerDirectory {
  readonly #owner: string
  readonly #dir: string
  readonly #lock: OwnerLock
  readonly mark: Mark

  /**
   * @param isMade True if another thread of this process has created them. @throws The file system error,
   * leaving no files behind.
   */
  constructor(root: string, owner: string, isMade = false) {
    this.#owner = owner
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
    removeCountPage(this.#owner)
    removeEmpty(this.#dir)
    this.#lock.release()
  }
}

/**
 * Creates an owner's directory before its thread starts, and counts the records where they outlive the
 * process, which can be killed at any moment.
 */
export class OwnerDirectoryWatch implements SpoolWatch {
  readonly count = newSpoolCount()
  /** Null if the directory cannot be created. The thread then retries and reports the problem. */
  readonly owner: string | null
  readonly #root: string
  /** Owner of the page. */
  #current: string
  #page: CountPage

  constructor(root: string, owner: string) {
    this.#root = root
    this.#current = owner
    this.#page = createCountPage(root, owner, [0, 0])
    this.owner = makeDirectory(root, owner) ? owner : null
  }

  /** True if the counts outlive the process. */
  get isExact(): boolean {
    return this.#page.isMapped
  }

  keep(records: number): void {
    this.#page.numbers[0] = records
  }

  threadLost(records: number): void {
    this.#page.numbers[1]! += records
  }

  threadBegan(owner: string): void {
    if (owner === this.#current) return
    const before = this.#page
    this.#page = createCountPage(this.#root, owner, [before.numbers[0]!, this.count[1]!])
    this.#current = owner
    // The rest belongs to the new thread.
    before.numbers[0] = this.count[1]!
    before.close()
  }

  close(): void {
    this.#page.close()
    this.#page = { numbers: Float64Array.of(0, 0), isMapped: false, close: () => {} }
  }
}

/** Creates an owner's directory. Returns false if that fails. */
function makeDirectory(root: string, owner: string): boolean {
  try {
    new OwnerDirectory(root, owner).mark.close()
    return true
  } catch {
    return false
  }
}
