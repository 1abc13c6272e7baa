import { FieldLines, type FormLine } from './field-lines.js'
import { KnownRuns } from './known-runs.js'

/**
 * The field lines of message heads, each behind a line end. Those of a head like one before are one text, told by
 * comparing addresses; only the request id is another one each time, and ours, so that it need not be judged. It is the
 * last field, unless a policy has added others.
 */
export class HeadLines {
  readonly #lines: FieldLines
  readonly #runs = new KnownRuns()

  /** @param form what stands for a field: a line behind a line end. */
  constructor(form: FormLine) {
    this.#lines = new FieldLines(form)
  }

  /** The lines of a list of names and values; null when for one of them `form` says so. */
  of(list: readonly string[], id: string): string | null {
    const idAt = list.length - 2
    if (idAt < 0 || list[idAt + 1] !== id || list[idAt] !== 'x-request-id')
      return this.#form(list, list.length)
    let run = this.#runs.find(list, idAt)
    if (run === null) {
      const lines = this.#form(list, idAt)
      if (lines === null) return null
      run = lines + '\r\nx-request-id: '
      this.#runs.learn(list, idAt, run)
    }
    return run + id
  }

  /** @param end how many entries of the list. */
  #form(list: readonly string[], end: number): string | null {
    let lines = ''
    for (let i = 0; i < end; i += 2) {
      const line = this.#lines.line(list[i]!, list[i + 1]!)
      if (line === null) return null
      lines += line
    }
    return lines
  }
}
