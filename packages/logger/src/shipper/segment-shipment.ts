import type { Shipment } from '../outputs/output.js'
import type { Segment, SegmentContent } from '../spool/segment.js'

/** Records of a segment as a shipment for an output. */
export class SegmentShipment implements Shipment {
  readonly count: number
  readonly bytes: number
  readonly mayBeDelivered: boolean
  readonly #segment: Segment
  readonly #content: SegmentContent
  readonly #positions: readonly number[]

  /** @param positions Positions of the records in the segment, in order. */
  constructor(segment: Segment, content: SegmentContent, positions: readonly number[]) {
    this.#segment = segment
    this.#content = content
    this.#positions = positions
    this.count = positions.length
    this.mayBeDelivered = segment.mayBeDelivered
    const { starts, ends } = content.index
    let bytes = 0
    for (const position of positions) bytes += ends[position]! - starts[position]!
    this.bytes = bytes
  }

  idOf(i: number): string {
    const { prefix, first } = this.#segment.location
    return prefix + '-' + (first + this.#content.index.ordinals[this.#positions[i]!]!).toString(36)
  }

  jsonOf(i: number): Buffer {
    const { index, bytes } = this.#content
    const position = this.#positions[i]!
    return bytes.subarray(index.starts[position]!, index.ends[position]!)
  }

  lengthOf(i: number): number {
    const { starts, ends } = this.#content.index
    const position = this.#positions[i]!
    return ends[position]! - starts[position]!
  }

  copyJson(i: number, into: Buffer, at: number): number {
    const { index, bytes } = this.#content
    const position = this.#positions[i]!
    return bytes.copy(into, at, index.starts[position]!, index.ends[position]!)
  }

  /** Returns the position in the segment of record `i` of the shipment. */
  placeOf(i: number): number {
    return this.#positions[i]!
  }
}
