import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Gap } from '../queue/messages.js'

const FILE = 'gap'
/** Size of the file, which is more than all reasons need. It is reserved while the disk is not full. */
const FILE_BYTES = 1024

/**
 * Saves losses in the directory of an owner, so that the next owner can report them. Errors are ignored: the losses are then
 * not reported if the owner is killed.
 */
export function saveGap(dir: string, gap: Gap): void {
  try {
    const path = join(dir, FILE)
    const flag = existsSync(path) ? 'r+' : 'wx'
    writeFileSync(path, JSON.stringify(gap).padEnd(FILE_BYTES), { flag, mode: 0o600 })
  } catch {
    // The spool reports such problems.
  }
}

/** Reads and deletes the losses that an owner has saved. Returns null if there are none. */
export function takeGap(dir: string): Gap | null {
  try {
    const text = readFileSync(join(dir, FILE), 'latin1')
    unlinkSync(join(dir, FILE))
    const gap = JSON.parse(text) as Gap
    return Object.values(gap.reasons).some((records) => records > 0) ? gap : null
  } catch {
    return null
  }
}
