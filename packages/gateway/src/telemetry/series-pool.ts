/**
 * Values of one metric, at most `most` in all maps together. Clients and reloads can cause any number of label
 * values. Those beyond the limit share the value `other`, which is reported with the label value "other".
 */
export class SeriesPool<T> {
  readonly other: T
  readonly #create: () => T
  #left: number

  constructor(most: number, create: () => T) {
    this.#left = most
    this.#create = create
    this.other = create()
  }

  /** Returns the value of a key, created on first use. */
  valueIn(map: Map<string, T>, key: string): T {
    const known = map.get(key)
    if (known !== undefined) return known
    if (this.#left === 0) return this.other
    this.#left--
    const created = this.#create()
    map.set(key, created)
    return created
  }
}
