/** Maximum length of a line in bytes. The rest of a longer line does not parse and counts as skipped. */
export const MAX_LINE_BYTES = 1024 ** 2

const NEWLINE = 10
const NOTHING = Buffer.alloc(0)

/** Splits a byte stream into lines, buffering incomplete ones. */
export class LineSplitter {
  #beginning: Buffer = NOTHING

  /** Adds bytes and returns the lines completed by them. */
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

  /** Returns the incomplete last line, or null, and discards it. */
  takeRest(): string | null {
    if (this.#beginning.length === 0) return null
    const rest = this.#beginning.toString('utf8')
    this.#beginning = NOTHING
    return rest
  }
}
