const ENTER = '\u001b[?1049h\u001b[?25l\u001b[2J'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const END_OF_LINE = '\u001b[K'
const END_OF_SCREEN = '\u001b[J'

/** The alternate screen of the terminal. The previous contents return on `close`, or when the process exits. */
export class FullScreen {
  readonly #onKeys: (input: string) => void
  readonly #leave = (): void => this.close()
  #isOpen = true

  /** Opens the screen. @param onKeys Called with input of the keyboard, and with an empty string on a resize. */
  constructor(onKeys: (input: string) => void) {
    this.#onKeys = onKeys
    process.once('exit', this.#leave)
    process.stdout.write(ENTER)
    process.stdin.setRawMode(true)
    process.stdin.setEncoding('utf8')
    process.stdin.on('data', this.#onData)
    process.stdout.on('resize', this.#onResize)
  }

  /** True if the command has a terminal for input and output. */
  static isAvailable(): boolean {
    return process.stdout.isTTY && process.stdin.isTTY
  }

  /** Size in characters. A terminal that reports none has the usual one. */
  get size(): { readonly columns: number; readonly rows: number } {
    const { columns, rows } = process.stdout
    return { columns: columns || 80, rows: rows || 24 }
  }

  /** Replaces the contents. */
  draw(lines: readonly string[]): void {
    if (!this.#isOpen) return
    const text = lines.map((line) => line + END_OF_LINE).join('\r\n')
    process.stdout.write(HOME + text + END_OF_SCREEN)
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    process.removeListener('exit', this.#leave)
    process.stdin.removeListener('data', this.#onData)
    process.stdout.removeListener('resize', this.#onResize)
    process.stdin.setRawMode(false)
    process.stdin.pause()
    process.stdout.write(LEAVE)
  }

  readonly #onData = (input: string): void => this.#onKeys(input)
  readonly #onResize = (): void => this.#onKeys('')
}
