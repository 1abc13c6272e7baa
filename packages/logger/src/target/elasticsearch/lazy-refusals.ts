import type { Refusal, Refusals } from '../target.js'

/** A refused record, as long as its reason is only known by its place in the answer. */
type Unread = Pick<Refusal, 'index' | 'status'>

/** Refused records of an answer that is kept as text; what it says of each is read when it is asked for. */
export class LazyRefusals implements Refusals {
  readonly #text: string
  readonly #read: (refused: Unread, json: string) => Refusal
  /** Four numbers for each: index, status, and where its item begins and ends. */
  readonly #places: number[] = []

  /** @param read makes a refusal of an item's JSON; one that it throws for has no reason. */
  constructor(text: string, read: (refused: Unread, json: string) => Refusal) {
    this.#text = text
    this.#read = read
  }

  get length(): number {
    return this.#places.length / 4
  }

  add(index: number, status: number, from: number, to: number): void {
    this.#places.push(index, status, from, to)
  }

  slice(from: number, to = this.length): readonly Refusal[] {
    const refusals: Refusal[] = []
    for (let i = from; i < Math.min(to, this.length); i++) refusals.push(this.#refusal(i * 4))
    return refusals
  }

  #refusal(at: number): Refusal {
    const places = this.#places
    const unread = { index: places[at]!, status: places[at + 1]! }
    try {
      return this.#read(unread, this.#text.slice(places[at + 2]!, places[at + 3]!))
    } catch {
      return { ...unread, type: 'unknown', reason: 'the answer cannot be read at this place' }
    }
  }
}
