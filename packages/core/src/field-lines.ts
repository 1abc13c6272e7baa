import { Patience } from './patience.js'

/**
 * Turns a field into what stands for it in a head. Empty: nothing does. Null: it may not stand there, as with any
 * character that is not one byte.
 *
 * @param isKnownName something stood for a field of this name before
 */
export type FormLine = (name: string, value: string, isKnownName: boolean) => string | null

const SLOTS = 128
/** A longer value (a cookie, a token) is put together anew each time, which bounds the memory. */
const MAX_VALUE_LENGTH = 200

/**
 * Remembers the lines of message heads. Most fields of a message are those of the message before, name and value, so
 * that their lines need not be judged and put together again: a comparison of equal texts costs a tenth of that.
 *
 * One place for each name, found by a hash; names that meet in one place cost speed, never the right line, because name
 * and value are compared whole.
 */
export class FieldLines {
  readonly #form: FormLine
  readonly #names: string[] = new Array<string>(SLOTS).fill('')
  readonly #values: string[] = new Array<string>(SLOTS).fill('')
  readonly #lines: string[] = new Array<string>(SLOTS).fill('')
  readonly #patience = new Patience(SLOTS)

  constructor(form: FormLine) {
    this.#form = form
  }

  /** What `form` makes of the field. */
  line(name: string, value: string): string | null {
    const slot = slotOf(name)
    const isKnownName = this.#names[slot] === name && name !== ''
    if (isKnownName && this.#values[slot] === value) {
      this.#patience.renew(slot)
      return this.#lines[slot]!
    }
    const line = this.#form(name, value, isKnownName)
    // What stands for nothing may be that for its name, which would pass as known then.
    if (line !== null && line !== '') this.#keep(slot, name, value, line)
    return line
  }

  #keep(slot: number, name: string, value: string, line: string): void {
    if (!this.#patience.isWorthKeeping(slot) || value.length > MAX_VALUE_LENGTH) return
    this.#names[slot] = textOfItsOwn(name)
    this.#values[slot] = textOfItsOwn(value)
    this.#lines[slot] = textOfItsOwn(line)
  }
}

function slotOf(name: string): number {
  const { length } = name
  return (length * 59 + name.charCodeAt(length - 1) * 5 + name.charCodeAt(length >> 1)) & (SLOTS - 1)
}

/**
 * The same text of one byte a character in one piece of its own: a part of a text keeps the whole of it in memory, and
 * what was put together from parts is gone through part by part whenever it is copied.
 */
export function textOfItsOwn(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
