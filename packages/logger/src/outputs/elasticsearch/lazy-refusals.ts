import type { Refusal, Refusals } from '../output.js'
import { readRefusal } from './bulk-item.js'

/**
 * Refused records of an answer that is kept as text: what it says of each is read when it is asked for. Objects for all
 * of them would outlive many collections of a log thread.
 */
export class LazyRefusals implements Refusals {
  readonly #text: string
  /** Four numbers for each: index, status, and where its item begins and ends. */
  readonly #positions: number[] = []

  constructor(text: string) {
    this.#text = text
  }

  get length(): number {
    return this.#positions.length / 4
  }

  add(index: number, status: number, from: number, to: number): void {
    this.#positions.push(index, status, from, to)
  }

  slice(from: number, to = this.length): readonly Refusal[] {
    const refusals: Refusal[] = []
    for (let i = from; i < Math.min(to, this.length); i++) refusals.push(this.#refusal(i * 4))
    return refusals
  }

  #refusal(at: number): Refusal {
    const positions = this.#positions
    const [index, status] = [positions[at]!, positions[at + 1]!]
    try {
      return readRefusal(this.#text.slice(positions[at + 2]!, positions[at + 3]!), index, status)
    } catch {
      return { index, status, type: 'unknown', reason: 'the answer cannot be read at this position' }
    }
  }
}
