import { ByteCollector } from '@sluice/core'
import type { Deadline, TimerWheel } from '../lib/timer-wheel.js'
import type { BodyReceiver, ClientOwner, ClientStream } from '../listen/listener.js'
import { sendError } from './cache-answers.js'
import { TRANSFER_MS, type TransferBudget } from './transfer-budget.js'

/** Options for `Upload`. */
export interface UploadOptions {
  readonly client: ClientStream
  readonly maxBytes: number
  readonly budget: TransferBudget
  readonly wheel: TimerWheel
  /** Receives the value, which is valid only during the call. */
  readonly done: (value: Uint8Array) => void
  readonly refused: () => void
}

/**
 * A value being received. Most arrive in one chunk, which is passed on as it is. Others are collected here.
 */
export class Upload implements BodyReceiver, ClientOwner, Deadline {
  dueAt = 0
  wheelNext: Deadline | null = null
  wheelPrevious: Deadline | null = null
  wheelSlot = -1
  readonly #options: UploadOptions
  #gathered: ByteCollector | null = null
  #isOver = false

  constructor(options: UploadOptions) {
    this.#options = options
    options.client.owner = this
    options.client.readBody(this)
    if (!this.#isOver && this.#gathered === null) this.#wait()
  }

  onBodyChunk(chunk: Uint8Array, isLast: boolean): void {
    if (this.#isOver) return
    const { maxBytes, budget, done } = this.#options
    if (this.#gathered === null && isLast && chunk.length <= maxBytes) {
      this.#end()
      done(chunk)
      return
    }
    const gathered = this.#wait()
    if (gathered.size + chunk.length > maxBytes) this.#refuse(413, tooLarge(maxBytes))
    else if (!budget.take(chunk.length))
      this.#refuse(503, 'too many large values are being uploaded; try again')
    else {
      gathered.add(chunk)
      if (!isLast) return
      const value = gathered.toBuffer()
      this.#end()
      done(value)
    }
  }

  onClientAbort(): void {
    this.#end()
  }

  onClientDrain(): void {}

  onBodyInvalid(): void {
    this.#refuse(400, 'the body framing is invalid (RFC 9112)')
  }

  onDeadline(): void {
    this.#refuse(408, 'the value was not received completely in time')
  }

  #wait(): ByteCollector {
    if (this.#gathered !== null) return this.#gathered
    const { budget, wheel } = this.#options
    budget.open++
    this.dueAt = performance.now() + TRANSFER_MS
    wheel.arm(this)
    this.#gathered = new ByteCollector()
    return this.#gathered
  }

  #refuse(status: number, detail: string): void {
    if (this.#isOver) return
    this.#end()
    const { client, refused } = this.#options
    client.closeAfter = true
    refused()
    sendError(client, status, detail)
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#gathered === null) return
    const { budget, wheel } = this.#options
    wheel.disarm(this)
    budget.open--
    budget.giveBack(this.#gathered.size)
  }
}

/** Returns the error text for a value over the limit. */
export function tooLarge(maxBytes: number): string {
  return `the value is larger than this server’s limit of ${maxBytes} bytes`
}
