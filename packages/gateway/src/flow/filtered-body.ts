import type { Exchange, Filtered, ResponseFilters } from '@sluice/core'
import type { ClientStream } from '../listen/listener.js'
import type { ExchangeFlow, FilterOwner } from './exchange-flow.js'

/** Time limit for one step of the filters, in milliseconds. */
export const FILTER_WAIT_MS = 30_000

const NOTHING = new Uint8Array(0)

/**
 * Closes the filters of an exchange. `responseBytes` becomes the number of bytes that the filters sent to the client.
 */
export function closeFilters({ x, route, context }: ExchangeFlow): void {
  const filters = x.responseFilters!
  x.responseFilters = null
  if (filters.sentBytes >= 0) x.responseBytes = filters.sentBytes
  filters.close(({ name }, error) =>
    context.report('policy_failed', { policy: name, route: route.id, error: String(error) }),
  )
}

/** Destination of a response body: the client, or the filters in front of it. */
export type BodySink = Pick<ClientStream, 'send' | 'sendHead' | 'start' | 'write' | 'end' | 'unsentBytes'>

/**
 * The filters of a response in front of the client:
 *
 *     target ─► (hooks) ─► filter ─► filter ─► client
 *
 * While filters are waiting, `write` returns false, as for a slow client.
 */
export class FilteredBody implements BodySink {
  /** True while the filters wait for something. */
  isWaiting = false
  readonly #flow: ExchangeFlow
  readonly #filters: ResponseFilters<Exchange>
  readonly #client: ClientStream
  readonly #owner: FilterOwner
  /** Length announced to the client, or -1 if unknown. */
  #length = -1
  /** Trailers to send once the client has accepted the last bytes, or undefined if the end does not wait for that. */
  #heldTrailers: readonly string[] | null | undefined = undefined

  constructor(flow: ExchangeFlow, owner: FilterOwner) {
    this.#flow = flow
    this.#filters = flow.x.responseFilters!
    this.#client = flow.client
    this.#owner = owner
  }

  /** True if the response can end only after the client has accepted the last bytes. */
  get isHeld(): boolean {
    return this.#heldTrailers !== undefined
  }

  /** True if there is more to come, which the owner will be told about. */
  get isBusy(): boolean {
    return this.isWaiting || this.isHeld
  }

  get unsentBytes(): number {
    return this.#client.unsentBytes
  }

  sendHead(status: number, _: readonly string[], length: number): void {
    const passed = this.#begin(length)
    // A filter failed, and the refusal was sent instead.
    if (passed === null) return
    this.#filters.sentBytes = 0
    this.#client.sendHead(status, this.#flow.x.responseHeaders, passed)
  }

  send(status: number, _: readonly string[], body: Uint8Array | null): void {
    const whole = body ?? NOTHING
    if (this.#begin(whole.length) === null) return
    this.#run({
      filter: () => this.#filters.writeWhole(whole),
      passOn: (bytes) => this.#sendWhole(status, bytes),
      onLate: () => this.#owner.onFiltered(),
    })
  }

  start(status: number, _: readonly string[], length: number): void {
    const passed = this.#begin(length)
    if (passed === null) return
    this.#length = passed
    this.#filters.sentBytes = 0
    this.#client.start(status, this.#flow.x.responseHeaders, passed)
  }

  write(piece: Uint8Array): boolean {
    if (this.#isOver) return false
    return this.#run({
      filter: () => this.#filters.write(piece),
      passOn: (bytes) => this.#pass(bytes),
      onLate: () => this.#owner.onDrain(),
    })
  }

  end(trailers: readonly string[] | null = null): boolean {
    if (this.#isOver) return false
    return this.#run({
      filter: () => this.#filters.end(),
      passOn: (bytes) => this.#finish(bytes, trailers),
      onLate: () => this.#owner.onFiltered(),
    })
  }

  /** Handles room at the client again. Returns true if nothing else needs the event. */
  takeDrain(): boolean {
    const trailers = this.#heldTrailers
    if (trailers === undefined) return this.isWaiting
    this.#heldTrailers = undefined
    this.#client.end(trailers)
    this.#owner.onFiltered()
    return true
  }

  /** True if another response has replaced this one, or if the exchange is over. */
  get #isOver(): boolean {
    return this.#flow.isOver || this.#flow.x.responseFilters !== this.#filters
  }

  /** Returns the length after the filters, or null if a filter failed. */
  #begin(length: number): number | null {
    try {
      return this.#filters.begin(this.#flow.x, length)
    } catch (error) {
      this.#flow.fault(error)
      return null
    }
  }

  #sendWhole(status: number, bytes: Uint8Array | null): boolean {
    this.#filters.sentBytes = bytes?.length ?? 0
    this.#client.send(status, this.#flow.x.responseHeaders, bytes)
    return true
  }

  /** Returns false if the client must drain first. */
  #pass(bytes: Uint8Array | null): boolean {
    if (bytes === null) return true
    const filters = this.#filters
    filters.sentBytes += bytes.length
    if (this.#length >= 0 && filters.sentBytes > this.#length)
      throw new Error('a response filter produced more bytes than the length it announced')
    return this.#client.write(bytes)
  }

  #finish(last: Uint8Array | null, trailers: readonly string[] | null): boolean {
    if (this.#pass(last)) {
      this.#client.end(trailers)
      return true
    }
    this.#heldTrailers = trailers
    return false
  }

  /** Returns false if the filters are still working, or if the client must drain first. */
  #run(step: FilterStep): boolean {
    try {
      const passed = step.filter()
      if (!(passed instanceof Promise)) return step.passOn(passed)
      this.isWaiting = true
      this.#await(passed, step)
    } catch (error) {
      this.#flow.fault(error)
    }
    return false
  }

  #await(passed: Promise<Uint8Array | null>, { passOn, onLate }: FilterStep): void {
    passed
      .then((bytes) => {
        if (this.#isOver) return
        this.isWaiting = false
        if (passOn(bytes)) onLate()
      })
      .catch((error: unknown) => {
        if (!this.#isOver) this.#flow.fault(error)
      })
  }
}

/** A call of the filters, with the handling of its result. */
interface FilterStep {
  readonly filter: () => Filtered
  /** Returns false if the client must drain first. */
  readonly passOn: (bytes: Uint8Array | null) => boolean
  /** Called when an asynchronous result has been passed on. */
  readonly onLate: () => void
}
