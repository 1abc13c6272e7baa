import type { Shipment } from '../outputs/output.js'
import type { Letter } from './letter.js'

/** Some dead letters, as an output sees them. */
export class LetterShipment implements Shipment {
  readonly count: number
  readonly bytes: number
  /** By a replay that was ended in the middle. */
  readonly mayBeDelivered = true
  readonly #letters: readonly Letter[]

  constructor(letters: readonly Letter[]) {
    this.#letters = letters
    this.count = letters.length
    this.bytes = letters.reduce((sum, { record }) => sum + record.length, 0)
  }

  idOf(i: number): string {
    return this.#letters[i]!.id
  }

  jsonOf(i: number): Buffer {
    return this.#letters[i]!.record
  }

  lengthOf(i: number): number {
    return this.#letters[i]!.record.length
  }

  copyJson(i: number, into: Buffer, at: number): number {
    return this.#letters[i]!.record.copy(into, at)
  }
}
