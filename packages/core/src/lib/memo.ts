/**
 * Remembers what is made of texts, of which there may be any number: clients choose names, configurations come and go.
 * When it is full it starts empty again, so that a look-up is one of a Map (17 ns for a text that was met before). Where each
 * entry has to earn its place, as a password that took 50 ms to check, it is `lru-cache`.
 */
export class Memo<V extends object | string | boolean> {
  readonly #values = new Map<string, V>()
  readonly #max: number
  readonly #make: (text: string) => V
  readonly #key: (text: string) => string

  /** @param key what is kept of a text that is a part of a larger one. */
  constructor(max: number, make: (text: string) => V, key: (text: string) => string = (text) => text) {
    this.#max = max
    this.#make = make
    this.#key = key
  }

  get(text: string): V {
    return this.#values.get(text) ?? this.#add(text)
  }

  clear(): void {
    this.#values.clear()
  }

  #add(text: string): V {
    const value = this.#make(text)
    if (this.#values.size >= this.#max) this.#values.clear()
    this.#values.set(this.#key(text), value)
    return value
  }
}
