/**
 * Bounded cache of values derived from text. Clients can send any number of different texts, so the cache is
 * cleared when it is full. A hit is therefore a plain Map lookup (17 ns). Use `lru-cache` instead if
 * computing a value is expensive, such as a 50 ms password check.
 */
export class Memo<V extends object | string | boolean> {
  readonly #values = new Map<string, V>()
  readonly #max: number
  readonly #make: (text: string) => V
  readonly #key: (text: string) => string

  /**
   * @param key Returns the key to store for a text. Use it to copy a text that is a slice of a larger one.
   */
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
