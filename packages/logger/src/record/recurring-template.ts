import type { RecordWriter } from './record-writer.js'
import { NO_REFERENCE, type SharedTexts } from './shared-texts.js'

/** Number of templates that are compared before the map is asked. */
const RECENT = 4

/** Strings on which a template depends, such as a method and a host. */
type Key = readonly [a: string, b: string, c: string]

interface Entry {
  readonly key: Key
  readonly text: string
  readonly position: number
}

/** A template with parts that depend on up to three strings. Each of its forms is shared once. */
export class RecurringTemplate {
  readonly #texts: SharedTexts
  readonly #make: (...key: Key) => string
  readonly #known = new Map<string, Entry>()
  /** Forms used last, in no order. */
  #recent: Entry[] = []
  #next = 0
  #generation = 0

  /** @param make Returns the template for a key (see `template.ts`). */
  constructor(texts: SharedTexts, make: (...key: Key) => string) {
    this.#texts = texts
    this.#make = make
  }

  write(w: RecordWriter, a: string, b: string, c: string): void {
    if (this.#generation !== this.#texts.generation) this.#forget()
    const recent = this.#recent
    for (let i = 0; i < recent.length; i++) {
      const { key, position, text } = recent[i]!
      if (key[0] === a && key[1] === b && key[2] === c) {
        w.template(position, text)
        return
      }
    }
    const { position, text } = this.#other([a, b, c])
    w.template(position, text)
  }

  #other(key: Key): Entry {
    const name = key.join('\n')
    let entry = this.#known.get(name)
    if (entry === undefined) {
      const text = this.#make(...key)
      entry = { key, text, position: this.#texts.add(text) }
      // Otherwise clients could fill the memory.
      if (entry.position === NO_REFERENCE) return entry
      this.#known.set(name, entry)
    }
    this.#recent[this.#next] = entry
    this.#next = (this.#next + 1) % RECENT
    return entry
  }

  #forget(): void {
    this.#generation = this.#texts.generation
    this.#known.clear()
    this.#recent = []
    this.#next = 0
  }
}
