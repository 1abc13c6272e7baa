import type { Delivery, LogOutput, Shipment } from '../output.js'
import { StandardOutput } from './standard-output.js'

/** What one write takes: a pipe takes so much as a whole or not at all, so that lines of several workers stay whole. */
const ATOMIC_BYTES = 4096
const NEWLINE = 10

/** One line of JSON a record on the standard output of the process. What was written is never written again. */
export class StdoutOutput implements LogOutput {
  readonly #output: StandardOutput
  #last: Promise<unknown> = Promise.resolve()
  /** A line of which a part has been written before the output took no more. */
  #isTorn = false

  constructor(output: StandardOutput = new StandardOutput(1)) {
    this.#output = output
  }

  /** One after the other, because there is one output only. */
  deliver(shipment: Shipment): Promise<Delivery> {
    const delivery = this.#last.then(() => this.#write(shipment))
    this.#last = delivery
    return delivery
  }

  async close(): Promise<void> {
    this.#output.close()
  }

  async #write(shipment: Shipment): Promise<Delivery> {
    let written = 0
    while (written < shipment.count) {
      const { bytes, end } = linesFrom(shipment, written, this.#isTorn)
      const { taken, problem } = await this.#output.write(bytes)
      if (problem !== '') {
        if (taken > 0) this.#isTorn = bytes[taken - 1] !== NEWLINE
        if (written === 0) return { kind: 'failed', overload: false, reason: problem }
        return { kind: 'answered', refused: [], again: indicesFrom(written, shipment.count) }
      }
      this.#isTorn = false
      written = end
    }
    return { kind: 'answered', refused: [], again: [] }
  }
}

/** As many whole lines as one write takes, but one at least; a line that was torn is ended first. */
function linesFrom(shipment: Shipment, start: number, isTorn: boolean): { bytes: Buffer; end: number } {
  const lead = isTorn ? 1 : 0
  let size = lead + shipment.lengthOf(start) + 1
  let end = start + 1
  while (end < shipment.count && size + shipment.lengthOf(end) + 1 <= ATOMIC_BYTES) {
    size += shipment.lengthOf(end) + 1
    end++
  }
  const bytes = Buffer.allocUnsafe(size)
  if (isTorn) bytes[0] = NEWLINE
  let at = lead
  for (let i = start; i < end; i++) {
    at += shipment.copyJson(i, bytes, at)
    bytes[at++] = NEWLINE
  }
  return { bytes, end }
}

function indicesFrom(start: number, count: number): number[] {
  return Array.from({ length: count - start }, (_, i) => start + i)
}
