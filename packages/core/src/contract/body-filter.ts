/**
 * Output of a filter: bytes, or null if there is nothing to pass on yet. Return a promise only if the filter
 * has to wait.
 */
export type Filtered = Uint8Array | null | Promise<Uint8Array | null>

/**
 * Streaming filter that sees a response body on its way to the client and may change it. A response hook adds
 * it with `x.filterResponse`. `X` is the exchange.
 *
 * Methods are called in the order below. While a promise from one call is pending, no other call except
 * `close` is made, and the source is paused as for a slow client.
 *
 *     begin ─► write… ─► end          close: exactly once, when the exchange no longer needs the filter
 *
 * Filters run in the order in which they were added, after all hooks. For responses without a body (HEAD,
 * 204, 304) only `begin` and `close` are called. Filters do not run after a switch of protocols (101). An
 * error that a filter throws ends the exchange: with a 500 if nothing has been sent, otherwise by cutting the
 * response.
 */
export interface BodyFilterOf<X> {
  /** Name of the policy, for error messages and the log. */
  readonly name: string
  /** True if the filter's output is as long as its input, so that Content-Length stays valid. */
  readonly keepsLength: boolean
  /**
   * Called after all hooks have seen the response and before its head is sent. The filter may still change
   * `x.responseHeaders`.
   * @param length Length of the body as it reaches this filter in bytes, or -1 if unknown. For HEAD, the
   * length of the GET response.
   * @returns False if the filter does not apply to this response. It is then closed.
   */
  begin(x: X, length: number): boolean
  /**
   * Transforms the next chunk of the body.
   * @param piece Chunk that is valid during the call only. Copy it to keep it.
   * @returns Bytes that stay valid until the next call. Return `piece` itself to pass it on unchanged.
   */
  write(piece: Uint8Array): Filtered
  /** Called after the last chunk. Not called if the body was truncated or abandoned. */
  end(): Filtered
  /** Releases the filter's resources. No other method is called afterwards. */
  close(): void
}

/** The filters of one response, chained together. */
export class ResponseFilters<X> {
  /** Bytes sent to the client, or -1 if the head has not been sent. */
  sentBytes = -1
  /** The filter that was called last. It is named if it fails. */
  running: BodyFilterOf<X> | null = null
  #filters: readonly BodyFilterOf<X>[] = []

  /** Number of filters. */
  get count(): number {
    return this.#filters.length
  }

  add(filter: BodyFilterOf<X>): void {
    this.#filters = [...this.#filters, filter]
  }

  /**
   * Starts all filters and removes those that do not apply.
   * @returns The length of the body after the last filter in bytes, or -1 if unknown.
   * @throws Errors of the filters.
   */
  begin(x: X, length: number): number {
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

  /** Passes a chunk through all filters. @throws Errors of the filters. */
  write(piece: Uint8Array): Filtered {
    return this.#passFrom(0, piece)
  }

  /** Ends all filters in order and returns their remaining output. @throws Errors of the filters. */
  end(): Filtered {
    return this.#endFrom(0)
  }

  /** Passes a complete body through all filters. @throws Errors of the filters. */
  writeWhole(body: Uint8Array): Filtered {
    const first = body.length === 0 ? null : this.write(body)
    // The filter may reuse its output buffer in the next call, so copy it.
    return mapOutput(first, (bytes) => {
      const kept = bytes === null ? null : Buffer.from(bytes)
      return mapOutput(this.end(), (last) => joined(kept, last))
    })
  }

  /** Closes all filters. @param onFailure Called for each filter whose `close` throws. */
  close(onFailure: (filter: BodyFilterOf<X>, error: unknown) => void): void {
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
    const passed = mapOutput(filter.end(), (last) => this.#passFrom(at + 1, last))
    return mapOutput(passed, (first) => mapOutput(this.#endFrom(at + 1), (rest) => joined(first, rest)))
  }
}

/** Calls `next` with the output, synchronously unless it is a promise. */
function mapOutput(filtered: Filtered, next: (bytes: Uint8Array | null) => Filtered): Filtered {
  return filtered instanceof Promise ? filtered.then(next) : next(filtered)
}

function joined(first: Uint8Array | null, rest: Uint8Array | null): Uint8Array | null {
  if (first === null) return rest
  return rest === null ? first : Buffer.concat([first, rest])
}
