import type { Shipment } from '../outputs/target.js'
import type { Segment, SegmentContent } from '../spool/segment.js'

/** Some records of a segment, as a target sees them. */
export class SegmentShipment implements Shipment {
  readonly count: number
  readonly bytes: number
  readonly mayBeDelivered: boolean
  readonly #segment: Segment
  readonly #content: SegmentContent
  readonly #places: readonly number[]

  /** @param places which of the content's records, in order. */
  constructor(segment: Segment, content: SegmentContent, places: readonly number[]) {
    this.#segment = segment
    this.#content = content
    this.#places = places
    this.count = places.length
    this.mayBeDelivered = segment.mayBeDelivered
    const { starts, ends } = content.index
    let bytes = 0
    for (const place of places) bytes += ends[place]! - starts[place]!
    this.bytes = bytes
  }

  idOf(i: number): string {
    const { prefix, first } = this.#segment.place
    return prefix + '-' + (first + this.#content.index.ordinals[this.#places[i]!]!).toString(36)
  }

  jsonOf(i: number): Buffer {
    const { index, bytes } = this.#content
    const place = this.#places[i]!
    return bytes.subarray(index.starts[place]!, index.ends[place]!)
  }

  lengthOf(i: number): number {
    const { starts, ends } = this.#content.index
    const place = this.#places[i]!
    return ends[place]! - starts[place]!
  }

  copyJson(i: number, into: Buffer, at: number): number {
    const { index, bytes } = this.#content
    const place = this.#places[i]!
    return bytes.copy(into, at, index.starts[place]!, index.ends[place]!)
  }

  /** The content's record that is number `i` here. */
  placeOf(i: number): number {
    return this.#places[i]!
  }
}
