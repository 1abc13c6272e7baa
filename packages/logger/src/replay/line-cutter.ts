const NEWLINE = 10

/** Cuts a stream of bytes into lines that are not empty; the last one may have no end. */
export class LineCutter {
  readonly #take: (line: Buffer) => void
  #beginning: Buffer[] = []

  constructor(take: (line: Buffer) => void) {
    this.#take = take
  }

  push(bytes: Buffer): void {
    let from = 0
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
      this.#beginning.push(bytes.subarray(from, at))
      this.end()
      from = at + 1
    }
    if (from < bytes.length) this.#beginning.push(bytes.subarray(from))
  }

  end(): void {
    const line = Buffer.concat(this.#beginning)
    this.#beginning = []
    if (line.length > 0) this.#take(line)
  }
}
