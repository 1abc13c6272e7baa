import { Patience } from '@sluice/core'
import type { ReceivedHead } from '../received-head.js'
import { KnownBytes } from './known-bytes.js'
import type { ResponseFraming } from './response-framing.js'

/** Longer heads are read anew each time, which bounds the memory. */
const MAX_BYTES = 1024
const PLACES = 8

/** A head with all that was made of it. */
export interface KnownHead {
  readonly bytes: KnownBytes
  readonly head: ReceivedHead
  readonly framing: ResponseFraming
}

/**
 * Heads of a target that came before, each with the empty line at its end: bytes that are those of a known head need
 * not be read again. Responses of one kind are mostly read in pieces of one size, so that is where they are looked for.
 */
export class KnownHeads {
  readonly #heads: (KnownHead | null)[] = new Array<null>(PLACES).fill(null)
  readonly #patience = new Patience(PLACES)

  /** The known head that stands at the beginning of what was read; null when there is none. */
  find(bytes: Buffer, from: number, to: number): KnownHead | null {
    const place = placeOf(to - from)
    const known = this.#heads[place]!
    if (known === null || !known.bytes.standAt(bytes, from, to)) return null
    this.#patience.renew(place)
    return known
  }

  /**
   * Remembers a head that was read whole.
   * @param bytes only the head.
   * @param size of what was read, the head and whatever came with it.
   */
  learn(bytes: Buffer, size: number, head: ReceivedHead, framing: ResponseFraming): void {
    const place = placeOf(size)
    if (bytes.length > MAX_BYTES || !this.#patience.isWorthKeeping(place)) return
    this.#heads[place] = { bytes: new KnownBytes(bytes), head, framing }
  }
}

function placeOf(size: number): number {
  return size & (PLACES - 1)
}
