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

/** Read at once, so that one delivery holds about as much; a longer line is read whole. */
const PIECE_BYTES = 512 * 1024
const NEWLINE = 10

/**
 * A file of dead letters that a replay has taken by renaming it: a gateway that goes on begins a new file under the old
 * name. Letters are taken off at its end, so that what was delivered is gone from it whenever the replay ends.
 */
export class ClaimedFile {
  readonly #path: string
  readonly #fd: number

  /** @throws the file system's error; ENOENT when another replay was faster. */
  constructor(path: string, claimed: string) {
    renameSync(path, claimed)
    this.#path = claimed
    this.#fd = openSync(claimed, 'r+')
  }

  /** The last lines of the file and where they begin; null when it is empty. */
  last(): { readonly lines: readonly Buffer[]; readonly start: number; readonly size: number } | null {
    const { size } = fstatSync(this.#fd)
    if (size === 0) return null
    for (let length = Math.min(PIECE_BYTES, size); ; length = Math.min(2 * length, size)) {
      const bytes = this.#read(size - length, length)
      // The first line of a piece has its beginning further ahead.
      const from = length === size ? 0 : bytes.indexOf(NEWLINE) + 1
      if (from === 0 && length < size) continue
      if (from === bytes.length) continue
      return { lines: linesOf(bytes.subarray(from)), start: size - length + from, size }
    }
  }

  /** Takes off what `last` gave. A gateway that had opened the file before it was taken may have added to it: that stays. */
  takeOff({ start, size }: { readonly start: number; readonly size: number }): void {
    const added = this.#read(size, fstatSync(this.#fd).size - size)
    if (added.length > 0) writeSync(this.#fd, added, 0, added.length, start)
    ftruncateSync(this.#fd, start + added.length)
  }

  /** Lets go: an empty file goes, any other gets a name of dead letters that nobody has. */
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
  // Half a letter, of a disk that was full.
  if (from < bytes.length) lines.push(bytes.subarray(from))
  return lines
}
