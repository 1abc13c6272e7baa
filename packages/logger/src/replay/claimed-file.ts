import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs'

/**
 * Number of bytes read at a time, which is also the approximate size of one delivery. A longer line is read
 * completely.
 */
const PIECE_BYTES = 512 * 1024
const NEWLINE = 10

/**
 * A dead-letter file that a replay has claimed by renaming it. A running gateway then starts a new file under
 * the old name. Letters are removed from its end, so delivered letters are gone whenever the replay ends.
 */
export class ClaimedFile {
  readonly #path: string
  readonly #fd: number

  /** @throws The file system error; ENOENT if another replay has claimed the file. */
  constructor(path: string, claimed: string) {
    renameSync(path, claimed)
    this.#path = claimed
    this.#fd = openSync(claimed, 'r+')
  }

  /** Returns the last lines of the file and their position, or null if it is empty. */
  last(): { readonly lines: readonly Buffer[]; readonly start: number; readonly size: number } | null {
    const { size } = fstatSync(this.#fd)
    if (size === 0) return null
    for (let length = Math.min(PIECE_BYTES, size); ; length = Math.min(2 * length, size)) {
      const bytes = this.#read(size - length, length)
      // Skips the first line of a block, which starts in an earlier block.
      const from = length === size ? 0 : bytes.indexOf(NEWLINE) + 1
      if (from === 0 && length < size) continue
      if (from === bytes.length) continue
      return { lines: linesOf(bytes.subarray(from)), start: size - length + from, size }
    }
  }

  /**
   * Removes the lines returned by `last`. A gateway that had opened the file before it was claimed may have
   * appended lines, which are kept.
   */
  takeOff({ start, size }: { readonly start: number; readonly size: number }): void {
    const added = this.#read(size, fstatSync(this.#fd).size - size)
    if (added.length > 0) writeSync(this.#fd, added, 0, added.length, start)
    ftruncateSync(this.#fd, start + added.length)
  }

  /** Closes the file. Deletes it if it is empty, otherwise gives it an unused dead-letter name. */
  release(name: string): void {
    const { size } = fstatSync(this.#fd)
    closeSync(this.#fd)
    if (size === 0) unlinkSync(this.#path)
    else renameSync(this.#path, name)
  }

  #read(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    let done = 0
    while (done < length) {
      const read = readSync(this.#fd, bytes, done, length - done, at + done)
      if (read === 0) break
      done += read
    }
    return bytes.subarray(0, done)
  }
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
    if (at > from) lines.push(bytes.subarray(from, at))
    from = at + 1
  }
  // An incomplete letter, written when the disk was full.
  if (from < bytes.length) lines.push(bytes.subarray(from))
  return lines
}
