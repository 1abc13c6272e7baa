import type { RecordWriter } from './record-writer.js'
import { NO_REFERENCE, type SharedTexts } from './shared-texts.js'

/** Number of texts that are compared before the map is asked. */
const RECENT = 4

interface Entry {
  readonly a: string
  readonly b: string
  readonly c: string
  readonly reference: number
}

/** A part of records that depends on three strings only and is therefore shared (see `SharedTexts`). */
export class RecurringText {
  readonly #texts: SharedTexts
  readonly #make: (a: string, b: string, c: string) => string
  readonly #known = new Map<string, Entry>()
  /** Texts used last, in no order. */
  #recent: Entry[] = []
  #next = 0
  #generation = 0

  /** @param make Returns the text as JSON in printable ASCII. */
  constructor(texts: SharedTexts, make: (a: string, b: string, c: string) => string) {
    this.#texts = texts
    this.#make = make
  }

  write(w: RecordWriter, a: string, b: string, c: string): void {
    if (this.#generation !== this.#texts.generation) this.#forget()
    const recent = this.#recent
    for (let i = 0; i < recent.length; i++) {
      const entry = recent[i]!
      if (entry.a === a && entry.b === b && entry.c === c) {
        w.reference(entry.reference)
        return
      }
    }
    this.#writeOther(w, a, b, c)
  }

  #writeOther(w: RecordWriter, a: string, b: string, c: string): void {
    const key = `${a}\n${b}\n${c}`
    let entry = this.#known.get(key)
    if (entry === undefined) {
      const text = this.#make(a, b, c)
      const reference = this.#texts.add(text)
      if (reference === NO_REFERENCE) {
        w.json(text)
        return
      }
      entry = { a, b, c, reference }
      this.#known.set(key, entry)
    }
    this.#recent[this.#next] = entry
    this.#next = (this.#next + 1) % RECENT
    w.reference(entry.reference)
  }

  #forget(): void {
    this.#generation = this.#texts.generation
    this.#known.clear()
    this.#recent = []
    this.#next = 0
  }
}
