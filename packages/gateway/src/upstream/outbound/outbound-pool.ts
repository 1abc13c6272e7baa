import { type HttpAnswer, type HttpCall, HttpCallFailed } from '@sluice/core'
import type { TransportOptions } from '../transport/connector.js'
import { UndiciTransport } from '../undici/undici-transport.js'
import { decodedAnswer } from './content-decoding.js'
import { type CallBounds, OutboundCall } from './outbound-call.js'

interface OutboundPoolOptions
  extends Omit<TransportOptions, 'pendingTimeoutMs' | 'keepAliveMs' | 'maxHeaderBytes'> {
  /** Host field. */
  readonly authority: string
  readonly connectMs: number
  readonly maxPending: number
}

/** Maximum wait for a connection in milliseconds. Calls time out earlier themselves. */
const MAX_WAIT_MS = 60_000
const KEEP_ALIVE_MS = 4000
const MAX_HEADER_BYTES = 16_384
const NO_FIELDS: readonly string[] = []

/** A worker's connections to an origin that policies call. */
export class OutboundPool {
  readonly #options: OutboundPoolOptions
  readonly #transport: UndiciTransport

  constructor(options: OutboundPoolOptions) {
    this.#options = options
    this.#transport = new UndiciTransport({
      ...options,
      pendingTimeoutMs: MAX_WAIT_MS,
      keepAliveMs: KEEP_ALIVE_MS,
      maxHeaderBytes: MAX_HEADER_BYTES,
    })
  }

  /** Makes a call. Rejects with HttpCallFailed. */
  call({ method, path, headers, body }: HttpCall, bounds: CallBounds): Promise<HttpAnswer> {
    const { authority, connectMs, maxPending } = this.#options
    if (this.#transport.pool().pending >= maxPending)
      return Promise.reject(new HttpCallFailed('busy', 'too many calls are waiting for a connection'))
    const bytes = body ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : null
    const request = {
      ...{ id: '', method, path, host: authority, headers: headers ?? NO_FIELDS },
      ...{ body: bytes, upload: null, connectMs },
    }
    const { answer } = new OutboundCall(this.#transport, request, bounds)
    return answer.then((received) => decodedAnswer(received, bounds.maxResponseBytes))
  }

  /** Waits for the calls in progress. */
  close(): Promise<void> {
    return this.#transport.close()
  }
}
