import { internString } from '@sluice/core'
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

  /** @param make Returns the template for a key (see `template.ts`). */
  constructor(texts: SharedTexts, make: (...key: Key) => string) {
    this.#texts = texts
    this.#make = make
  }

  write(w: RecordWriter, a: string, b: string, c: string): void {
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

  /** Forgets all forms, because the shared texts were cleared. */
  forget(): void {
    this.#known.clear()
    this.#recent = []
    this.#next = 0
  }

  #other([a, b, c]: Key): Entry {
    const name = `${a.length} ${b.length} ${a}${b}${c}`
    let entry = this.#known.get(name)
    if (entry === undefined) {
      // A string may be a slice of the head of a request, which it would keep in memory.
      const key = [internString(a), internString(b), internString(c)] as const
      const text = this.#make(...key)
      entry = { key, text, position: this.#texts.add(text, this) }
      // Otherwise clients could fill the memory.
      if (entry.position === NO_REFERENCE) return entry
      this.#known.set(internString(name), entry)
    }
    this.#recent[this.#next] = entry
    this.#next = (this.#next + 1) % RECENT
    return entry
  }
}
