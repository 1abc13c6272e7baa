import { visibleText } from '@sluice/core/visible-text'
import { complainText, isSilent } from './output.js'
import { ageText } from './text.js'

/** Output stream for progress. */
export interface ProgressStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const BACK_AND_CLEAR = '\r\u001b[K'

/**
 * Progress of a long command: a line that is updated on a terminal, one line per step elsewhere, nothing with
 * `--quiet`.
 */
export class Progress {
  readonly #stream: ProgressStream | null
  readonly #isLive: boolean
  #line = ''

  constructor(stream: ProgressStream | null = isSilent() ? null : standardError()) {
    this.#stream = stream
    this.#isLive = stream?.isTTY === true
  }

  /** Shows the start of a step after `done` of `total` steps. */
  step(done: number, total: number, what: string, remainingSeconds: number): void {
    const position = `${Math.min(done + 1, total)}/${total}`
    const left = remainingSeconds > 0 ? `, ${ageText(Math.ceil(remainingSeconds) * 1000)} left` : ''
    this.#show(`${position} ${visibleText(what)}${left}`)
  }

  /** Prints a message that stays. */
  note(text: string): void {
    if (!this.#isLive) {
      this.#stream?.write(`${visibleText(text)}\n`)
      return
    }
    this.#stream?.write(`${BACK_AND_CLEAR}${visibleText(text)}\n${this.#line}`)
  }

  /** Removes the updated line. */
  end(): void {
    if (this.#isLive && this.#line !== '') this.#stream?.write(BACK_AND_CLEAR)
    this.#line = ''
  }

  #show(text: string): void {
    if (!this.#isLive) {
      this.#stream?.write(`${text}\n`)
      return
    }
    // A wrapped line could not be cleared with a carriage return.
    this.#line = cut(text, (this.#stream?.columns ?? 80) - 1)
    this.#stream?.write(`${BACK_AND_CLEAR}${this.#line}`)
  }
}

function cut(text: string, width: number): string {
  const characters = [...text]
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`
}

function standardError(): ProgressStream {
  const { isTTY, columns } = process.stderr
  return { isTTY, columns, write: complainText }
}
