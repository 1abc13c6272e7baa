import type { Delivery, LogOutput, Shipment } from '../output.js'
import { StandardOutput } from './standard-output.js'

/** Maximum size of an atomic pipe write. Within it, lines of several workers are not interleaved. */
const ATOMIC_BYTES = 4096
const NEWLINE = Buffer.from('\n')

/** Writes one line of JSON per record to standard output. Nothing is written twice. */
export class StdoutOutput implements LogOutput {
  readonly #output: StandardOutput
  #last: Promise<unknown> = Promise.resolve()
  /** True if the last line was only partly written. */
  #isTorn = false

  constructor(output: StandardOutput = new StandardOutput(1)) {
    this.#output = output
  }

  /** Writes shipments one at a time. */
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
        if (taken > 0) this.#isTorn = bytes[taken - 1] !== NEWLINE[0]
        if (written === 0) return { kind: 'failed', overload: false, reason: problem }
        return { kind: 'answered', refused: [], again: indicesFrom(written, shipment.count) }
      }
      this.#isTorn = false
      written = end
    }
    return { kind: 'answered', refused: [], again: [] }
  }
}

/** Returns as many whole lines as fit in one write, but at least one. First ends a partly written line. */
function linesFrom(shipment: Shipment, start: number, isTorn: boolean): { bytes: Buffer; end: number } {
  const parts: Buffer[] = isTorn ? [NEWLINE] : []
  let size = parts.length
  let end = start
  for (; end < shipment.count; end++) {
    const json = shipment.jsonOf(end)
    size += json.length + 1
    if (end > start && size > ATOMIC_BYTES) break
    parts.push(json, NEWLINE)
  }
  return { bytes: Buffer.concat(parts), end }
}

function indicesFrom(start: number, count: number): number[] {
  return Array.from({ length: count - start }, (_, i) => start + i)
}
