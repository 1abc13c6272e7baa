/** A longer line is not a record; its rest will not parse and count as skipped, bytes. */
export const MAX_LINE_BYTES = 1024 ** 2

const NEWLINE = 10
const NOTHING = Buffer.alloc(0)

/** Cuts a stream of bytes into lines; the beginning of a line waits for its end. */
export class LineSplitter {
  #beginning: Buffer = NOTHING

  /** The lines that are complete with these bytes. */
  push(bytes: Buffer): string[] {
    const all = this.#beginning.length === 0 ? bytes : Buffer.concat([this.#beginning, bytes])
    const lines: string[] = []
    let from = 0
    for (let at = all.indexOf(NEWLINE); at !== -1; at = all.indexOf(NEWLINE, from)) {
      lines.push(all.toString('utf8', from, at))
      from = at + 1
    }
    this.#beginning = all.length - from > MAX_LINE_BYTES ? NOTHING : all.subarray(from)
    return lines
  }

  /** Gives up waiting: the line without an end, or null. */
  takeRest(): string | null {
    if (this.#beginning.length === 0) return null
    const rest = this.#beginning.toString('utf8')
    this.#beginning = NOTHING
    return rest
  }
}
