import { KnownFields } from './known-fields.js'
import { textOfItsOwn } from './own-text.js'

/**
 * Turns a field into what stands for it in a head. Empty: nothing does. Null: it may not stand there, as with any
 * character that is not one byte.
 *
 * @param isKnownName something stood for a field of this name before
 */
export type FormLine = (name: string, value: string, isKnownName: boolean) => string | null

/**
 * Remembers the lines of message heads: those of known fields need not be judged and put together again, and to compare
 * equal texts costs a tenth of that.
 */
export class FieldLines {
  readonly #form: FormLine
  readonly #fields = new KnownFields()
  /** Of the fields, by their place. */
  readonly #lines: string[] = []

  constructor(form: FormLine) {
    this.#form = form
  }

  /** What `form` makes of the field. */
  line(name: string, value: string): string | null {
    const place = this.#fields.find(name, value)
    if (place >= 0) return this.#lines[place]!
    const line = this.#form(name, value, this.#fields.hasName(name))
    // What stands for nothing may be that for its name, which would pass as known then.
    if (line !== null && line !== '') this.#keep(name, value, line)
    return line
  }

  #keep(name: string, value: string, line: string): void {
    const place = this.#fields.learn(name, value)
    if (place >= 0) this.#lines[place] = textOfItsOwn(line)
  }
}
