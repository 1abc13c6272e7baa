import { makeFolders } from '@sluice/core'
import { ownDirectory, removeEmpty } from './adoption.js'
import { OwnerLock } from './lock.js'
import { Mark } from './mark.js'

/** What an owner has in the root of a spool: its lock, and the directory of its files with its mark. */
export class OwnerDirectory {
  readonly #dir: string
  readonly #lock: OwnerLock
  readonly mark: Mark

  /** @param isMade another thread of this process has made it. @throws the file system's error; nothing is left then. */
  constructor(root: string, owner: string, isMade = false) {
    this.#dir = ownDirectory(root, owner)
    this.#lock = new OwnerLock(root, owner, isMade)
    try {
      // After the lock: a directory without one belongs to nobody.
      makeFolders(this.#dir)
      this.mark = new Mark(this.#dir, isMade)
    } catch (error) {
      removeEmpty(this.#dir)
      this.#lock.release()
      throw error
    }
  }

  /** Shows that the owner lives. @throws the file system's error. */
  touch(nowMs: number): void {
    this.#lock.touch(nowMs)
  }

  /** Lets go: others may adopt at once what is in the directory. */
  leave(): void {
    this.mark.remove()
    removeEmpty(this.#dir)
    this.#lock.release()
  }
}
