import { ByteCollector } from '@sluice/core'
import type { BodyReceiver, ClientStream } from '../listen/listener.js'
import { sendError } from './cache-answers.js'
import { Transfer, type Transfers } from './transfer.js'

interface UploadOptions {
  readonly client: ClientStream
  readonly maxBytes: number
  readonly transfers: Transfers
  /** Receives the value, which is valid only during the call. */
  readonly done: (value: Uint8Array) => void
  readonly refused: () => void
}

/**
 * A value being received. Most arrive in one chunk, which is passed on as it is. Others are collected here.
 */
export class Upload extends Transfer implements BodyReceiver {
  readonly #options: UploadOptions
  readonly #gathered = new ByteCollector()
  #isOver = false

  constructor(options: UploadOptions) {
    super(options.client, options.transfers)
    this.#options = options
    options.client.readBody(this)
    if (!this.#isOver) this.open()
  }

  onBodyChunk(chunk: Uint8Array, isLast: boolean): void {
    if (this.#isOver) return
    const { maxBytes } = this.#options
    const gathered = this.#gathered
    if (gathered.size + chunk.length > maxBytes) this.#refuse(413, tooLarge(maxBytes))
    else if (isLast && gathered.size === 0) this.#end(chunk)
    else if (!this.hold(chunk.length))
      this.#refuse(503, 'too many large values are being uploaded; try again')
    else {
      this.open()
      gathered.add(chunk)
      if (isLast) this.#end(gathered.toBuffer())
    }
  }

  override onClientAbort(): void {
    this.#isOver = true
    this.close()
  }

  override onBodyInvalid(): void {
    this.#refuse(400, 'the body framing is invalid (RFC 9112)')
  }

  onDeadline(): void {
    this.#refuse(408, 'the value was not received completely in time')
  }

  #end(value: Uint8Array): void {
    this.#isOver = true
    this.close()
    this.#options.done(value)
  }

  #refuse(status: number, detail: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.close()
    this.client.closeAfter = true
    this.#options.refused()
    sendError(this.client, status, detail)
  }
}

/** Returns the error text for a value over the limit. */
export function tooLarge(maxBytes: number): string {
  return `the value is larger than this server’s limit of ${maxBytes} bytes`
}
