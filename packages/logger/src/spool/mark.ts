import { closeSync, openSync, readFileSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/**
 * How far an owner has come, kept beside its lock: records that the request path has encoded, and of these, records
 * that are in the spool. Both are numbers of 8 bytes, little-endian. The page cache outlives a process that is killed,
 * so whoever takes over can tell how many records died with it.
 */
export class Mark {
  readonly #path: string
  readonly #fd: number
  readonly #bytes = Buffer.alloc(16)

  /** @throws the file system's error. */
  constructor(root: string, owner: string) {
    this.#path = markPath(root, owner)
    this.#fd = openSync(this.#path, 'wx', 0o600)
  }

  /** Writes both numbers, unless they are as before. @throws the file system's error. */
  set(received: number, spooled: number): void {
    if (this.#bytes.readDoubleLE(0) === received && this.#bytes.readDoubleLE(8) === spooled) return
    this.#bytes.writeDoubleLE(received, 0)
    this.#bytes.writeDoubleLE(spooled, 8)
    writeSync(this.#fd, this.#bytes, 0, 16, 0)
  }

  /** All is accounted for: there is nothing to tell. */
  remove(): void {
    closeSync(this.#fd)
    rmSync(this.#path, { force: true })
  }
}

/** The records that died with an owner, told once: its mark goes. */
export function takeLost(root: string, owner: string): number {
  const path = markPath(root, owner)
  try {
    const bytes = readFileSync(path)
    // Of several that come at the same time, one succeeds.
    unlinkSync(path)
    if (bytes.length < 16) return 0
    const lost = bytes.readDoubleLE(0) - bytes.readDoubleLE(8)
    return lost > 0 && Number.isSafeInteger(lost) ? lost : 0
  } catch {
    // An owner that has let go has none.
    return 0
  }
}

function markPath(root: string, owner: string): string {
  return join(root, `${owner}.mark`)
}
