import type { Filtered, ResponseFilters } from '@sluice/core'
import type { ClientStream } from '../listener/listener.js'
import type { ExchangeFlow } from './exchange-flow.js'

/** Longest wait for a filter. */
export const FILTER_WAIT_MS = 30_000

const NOTHING = new Uint8Array(0)

/** Gives up the filters of an exchange; from then on its bytes are those that the client got from them. */
export function closeFilters({ x, route, context }: ExchangeFlow): void {
  const filters = x.responseFilters!
  x.responseFilters = null
  if (filters.sentBytes >= 0) x.responseBytes = filters.sentBytes
  filters.close(({ name }, error) =>
    context.report('policy_failed', { policy: name, route: route.id, error: String(error) }),
  )
}

/** What the body of a response goes to: the client, or the filters before it. */
export type BodySink = Pick<ClientStream, 'send' | 'sendHead' | 'start' | 'write' | 'end' | 'unsentBytes'>

/** Whose body it is. */
export interface FilterOwner {
  /** The filters have passed on the piece that they waited with, and the client took it. */
  onDrain(): void
  /** What `send` or `end` was called for has been done, later than at once. */
  onFiltered(): void
}

/**
 * The filters of a response before its client:
 *
 *     target ─► (hooks) ─► filter ─► filter ─► client
 *
 * A filter that waits answers `write` with false, as a slow client does.
 */
export class FilteredBody implements BodySink {
  /** Filters wait for something. */
  isWaiting = false
  readonly #flow: ExchangeFlow
  readonly #filters: ResponseFilters
  readonly #client: ClientStream
  readonly #owner: FilterOwner
  /** As announced to the client; -1: unknown. */
  #length = -1
  /** Goes out when the client has taken the last bytes; undefined: it does not wait for that. */
  #heldTrailers: readonly string[] | null | undefined = undefined

  constructor(flow: ExchangeFlow, owner: FilterOwner) {
    this.#flow = flow
    this.#filters = flow.x.responseFilters!
    this.#client = flow.client
    this.#owner = owner
  }

  /** The client has to take the last bytes before the response can end. */
  get isHeld(): boolean {
    return this.#heldTrailers !== undefined
  }

  /** There is more to come from it, of which the owner will hear. */
  get isBusy(): boolean {
    return this.isWaiting || this.isHeld
  }

  get unsentBytes(): number {
    return this.#client.unsentBytes
  }

  sendHead(status: number, _: readonly string[], length: number): void {
    const passed = this.#begin(length)
    // One that failed has sent something else.
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

  /** The client has room again. True: nobody else needs to hear of it. */
  takeDrain(): boolean {
    const trailers = this.#heldTrailers
    if (trailers === undefined) return this.isWaiting
    this.#heldTrailers = undefined
    this.#client.end(trailers)
    this.#owner.onFiltered()
    return true
  }

  /** Another answer has taken the place of this one, or the exchange is over. */
  get #isOver(): boolean {
    return this.#flow.isOver || this.#flow.x.responseFilters !== this.#filters
  }

  /** Null: a filter failed. */
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

  /** False: the client has to take it first. */
  #pass(bytes: Uint8Array | null): boolean {
    if (bytes === null) return true
    const filters = this.#filters
    filters.sentBytes += bytes.length
    if (this.#length >= 0 && filters.sentBytes > this.#length)
      throw new Error('a filter made the body longer, and said that it would not')
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

  /** False: what filters pass on comes later, or the client has to take it first. */
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

/** One call of the filters, and what becomes of what they pass on. */
interface FilterStep {
  readonly filter: () => Filtered
  /** False: the client has to take it first. */
  readonly passOn: (bytes: Uint8Array | null) => boolean
  /** It was passed on, later than at once. */
  readonly onLate: () => void
}
