import type { Exchange } from './exchange.js'

/** What a filter passes on: bytes, or null for nothing now; a promise only where it really waits. */
export type Filtered = Uint8Array | null | Promise<Uint8Array | null>

/**
 * Sees a response body on its way to the client, piece by piece, and may change it. A response hook adds it with
 * `x.filterResponse`. The calls come in this order, and none while a promise of the one before is open:
 *
 *     begin ─► write… ─► end          close, once, at whatever time the exchange is over with it
 *
 * Filters work in the order in which they were added, after all hooks. Responses without a body (to HEAD; 204, 304) call
 * `begin` alone, and switched protocols nothing. While a promise is open the source waits as for a slow client. What it throws ends the
 * exchange: 500 while nothing has gone out, then the response is cut.
 */
export interface BodyFilter {
  /** The policy, for errors and the log. */
  readonly name: string
  /** It passes on as many bytes as it gets, so that Content-Length stays. */
  readonly keepsLength: boolean
  /**
   * Every hook has seen the response, whose head goes out next: fields may still be changed, in `x.responseHeaders`. False:
   * it does not take part, and is closed.
   * @param length of the body as it will come to this filter, for HEAD that of the GET; -1 unknown.
   */
  begin(x: Exchange, length: number): boolean
  /**
   * @param piece is only valid during the call: copy what must be kept.
   * @returns bytes that stay valid until the next call; the piece itself, to pass it on as it is.
   */
  write(piece: Uint8Array): Filtered
  /** All of the body has come. Not called for one that was cut or given up. */
  end(): Filtered
  /** Gives back what it holds. Nothing is called after it. */
  close(): void
}

/** The filters of one response, as one. */
export class ResponseFilters {
  /** Bytes that went to the client; -1: the head has not gone out. */
  sentBytes = -1
  /** The one that was called last, to be named when it fails. */
  running: BodyFilter | null = null
  #filters: readonly BodyFilter[] = []

  add(filter: BodyFilter): void {
    this.#filters = [...this.#filters, filter]
  }

  /** @returns the length of the body behind the last one; -1 unknown. @throws what a filter throws */
  begin(x: Exchange, length: number): number {
    let passed = length
    for (const filter of this.#filters) {
      this.running = filter
      if (filter.begin(x, passed)) {
        if (!filter.keepsLength) passed = -1
      } else {
        this.#filters = this.#filters.filter((one) => one !== filter)
        filter.close()
      }
    }
    return passed
  }

  /** @throws what a filter throws */
  write(piece: Uint8Array): Filtered {
    return this.#passFrom(0, piece)
  }

  /** @throws what a filter throws */
  end(): Filtered {
    return this.#endFrom(0)
  }

  /** Passes a whole body on. @throws what a filter throws */
  writeWhole(body: Uint8Array): Filtered {
    const first = body.length === 0 ? null : this.write(body)
    // What a filter has passed on is its own again with the next call.
    return whenKept(first, (bytes) => {
      const kept = bytes === null ? null : Buffer.from(bytes)
      return whenKept(this.end(), (last) => joined(kept, last))
    })
  }

  /** Closes them all. @param onFailure gets what one of them throws. */
  close(onFailure: (filter: BodyFilter, error: unknown) => void): void {
    const filters = this.#filters
    this.#filters = []
    for (const filter of filters) {
      try {
        filter.close()
      } catch (error) {
        onFailure(filter, error)
      }
    }
  }

  #passFrom(from: number, piece: Uint8Array | null): Filtered {
    let passed = piece
    for (let i = from; i < this.#filters.length; i++) {
      if (passed === null) return null
      const filter = this.#filters[i]!
      this.running = filter
      const out = filter.write(passed)
      if (out instanceof Promise) return out.then((late) => this.#passFrom(i + 1, late))
      passed = out
    }
    return passed
  }

  #endFrom(at: number): Filtered {
    const filter = this.#filters[at]
    if (filter === undefined) return null
    this.running = filter
    const passed = whenKept(filter.end(), (last) => this.#passFrom(at + 1, last))
    return whenKept(passed, (first) => whenKept(this.#endFrom(at + 1), (rest) => joined(first, rest)))
  }
}

/** Goes on at once where nothing has to be waited for. */
function whenKept(filtered: Filtered, goOn: (bytes: Uint8Array | null) => Filtered): Filtered {
  return filtered instanceof Promise ? filtered.then(goOn) : goOn(filtered)
}

function joined(first: Uint8Array | null, rest: Uint8Array | null): Uint8Array | null {
  if (first === null) return rest
  return rest === null ? first : Buffer.concat([first, rest])
}
