import { ACTION_HEAD, ACTION_TAIL } from './block.js'

const NEWLINE = 10

/** Records of a segment as a shipment for an output. */
export type SegmentShipment = ReturnType<SegmentContent['shipmentOf']>

/** Records of a segment as they are sent to Elasticsearch, and one by one. */
export class SegmentContent {
  readonly body: Buffer
  readonly records: number
  /** Positions of all newlines, or null until a single record is needed. */
  #newlines: readonly number[] | null = null

  constructor(body: Buffer, records: number) {
    this.body = body
    this.records = records
  }

  /** @param positions Positions of the records in the segment, in order. */
  shipmentOf(positions: readonly number[], mayBeDelivered: boolean) {
    return {
      positions,
      mayBeDelivered,
      count: positions.length,
      bulkBody: this.#linesOf(positions),
      idOf: (i: number): string => this.#idOf(positions[i]!),
      jsonOf: (i: number): Buffer => this.#jsonOf(positions[i]!),
    }
  }

  #linesOf(positions: readonly number[]): Buffer {
    if (positions.length === this.records) return this.body
    const lines = (first: number, last: number): Buffer =>
      this.body.subarray(this.#startOf(first), this.#newlineAt(2 * last + 1) + 1)
    const [first, last] = [positions[0]!, positions.at(-1)!]
    if (last - first < positions.length) return lines(first, last)
    return Buffer.concat(positions.map((position) => lines(position, position)))
  }

  #idOf(position: number): string {
    const start = this.#startOf(position) + ACTION_HEAD.length
    return this.body.toString('latin1', start, this.#newlineAt(2 * position) + 1 - ACTION_TAIL.length)
  }

  #jsonOf(position: number): Buffer {
    const start = this.#newlineAt(2 * position) + 1
    return this.body.subarray(start, this.#newlineAt(2 * position + 1))
  }

  #startOf(position: number): number {
    return position === 0 ? 0 : this.#newlineAt(2 * position - 1) + 1
  }

  #newlineAt(line: number): number {
    this.#newlines ??= newlinesIn(this.body)
    return this.#newlines[line]!
  }
}

function newlinesIn(body: Buffer): number[] {
  const newlines: number[] = []
  for (let at = body.indexOf(NEWLINE); at !== -1; at = body.indexOf(NEWLINE, at + 1)) newlines.push(at)
  return newlines
}
