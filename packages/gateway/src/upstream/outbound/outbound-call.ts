import { type HttpAnswer, HttpCallFailed, type HttpCallFailure } from '@sluice/core'
import { FAILURES } from '../transport/failure.js'
import type { Opening } from '../transport/opening.js'
import type { ReceivedHead } from '../transport/received-head.js'
import type { Attempt, AttemptObserver, Failure, Transport, UpstreamRequest } from '../transport/transport.js'

/** Limits of one call. */
export interface CallBounds {
  readonly headersMs: number
  readonly totalMs: number
  readonly maxResponseBytes: number
}

const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])

/** A call of a policy. Collects the response, or ends the call when a limit is reached. */
export class OutboundCall implements AttemptObserver {
  /** Response of the call. Rejects with HttpCallFailed. */
  readonly answer: Promise<HttpAnswer>
  readonly #transport: Transport
  readonly #request: UpstreamRequest
  readonly #bounds: CallBounds
  readonly #total: NodeJS.Timeout
  #headers: NodeJS.Timeout | undefined
  #resolve!: (answer: HttpAnswer) => void
  #reject!: (error: HttpCallFailed) => void
  #attempt: Attempt | null = null
  #head: ReceivedHead | null = null
  #isKept = false
  #isRepeated = false
  #isOver = false
  #bytes = 0
  readonly #chunks: Buffer[] = []

  constructor(transport: Transport, request: UpstreamRequest, bounds: CallBounds) {
    this.#transport = transport
    this.#request = request
    this.#bounds = bounds
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#total = setTimeout(
      () => this.#giveUp('timeout', 'the response was not complete in time'),
      bounds.totalMs,
    )
    this.#dispatch(false)
  }

  onStarted(opening: Opening | null): void {
    this.#isKept = opening === null
    const { headersMs } = this.#bounds
    clearTimeout(this.#headers)
    this.#headers = setTimeout(
      () => this.#giveUp('timeout', 'the response head did not arrive in time'),
      headersMs,
    )
  }

  onHead(head: ReceivedHead): void {
    clearTimeout(this.#headers)
    this.#head = head
    const isBodiless = this.#request.method === 'HEAD'
    if (!isBodiless && head.length > this.#bounds.maxResponseBytes) this.#refuseSize()
  }

  onData(chunk: Uint8Array): void {
    if (this.#isOver) return
    this.#bytes += chunk.length
    if (this.#bytes > this.#bounds.maxResponseBytes) this.#refuseSize()
    else this.#chunks.push(Buffer.from(chunk))
  }

  onEnd(): void {
    const head = this.#head
    if (head === null || this.#isOver) return
    this.#end()
    this.#resolve({
      status: head.status,
      headers: head.forwardedFields(),
      body: Buffer.concat(this.#chunks, this.#bytes),
    })
  }

  onFailure(failure: Failure): void {
    if (this.#isOver) return
    clearTimeout(this.#headers)
    const wasDead = failure.code === FAILURES.reset.code && this.#isKept && this.#head === null
    if (wasDead && !this.#isRepeated && IDEMPOTENT.has(this.#request.method)) {
      this.#isRepeated = true
      this.#dispatch(true)
      return
    }
    this.#end()
    this.#reject(new HttpCallFailed(kindOf(failure), failure.detail))
  }

  #dispatch(isFresh: boolean): void {
    const attempt = this.#transport.dispatch(this.#request, this, isFresh)
    // It may have been abandoned during dispatch.
    if (this.#isOver) attempt.abort()
    else this.#attempt = attempt
  }

  #refuseSize(): void {
    this.#giveUp('tooLarge', `the response exceeds ${this.#bounds.maxResponseBytes} bytes`)
  }

  #giveUp(failure: HttpCallFailure, message: string): void {
    if (this.#isOver) return
    this.#end()
    this.#attempt?.abort()
    this.#reject(new HttpCallFailed(failure, message))
  }

  #end(): void {
    this.#isOver = true
    clearTimeout(this.#total)
    clearTimeout(this.#headers)
  }
}

function kindOf({ code }: Failure): HttpCallFailure {
  switch (code) {
    case 'GW_OVERLOADED':
      return 'busy'
    case 'GW_UPSTREAM_TIMEOUT':
      return 'timeout'
    case 'GW_UPSTREAM_DNS':
    case 'GW_UPSTREAM_REFUSED':
    case 'GW_UPSTREAM_TLS':
      return 'unreachable'
    case 'GW_UPSTREAM_RESET':
      return 'broken'
    default:
      return 'invalid'
  }
}
