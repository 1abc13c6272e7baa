import type { Deadline, TimerWheel } from '../lib/timer-wheel.js'
import type { ClientOwner, ClientStream } from '../listen/listener.js'
import { TRANSFER_MS, type TransferBudget } from './transfer-budget.js'

/** Threshold in bytes. Smaller values are not counted, because a connection can buffer one. */
export const LARGE_BYTES = 16 * 1024

/** A large value being sent. Bytes that the client does not read yet are buffered for a while, within the budget. */
export class Download implements ClientOwner, Deadline {
  dueAt = 0
  wheelNext: Deadline | null = null
  wheelPrevious: Deadline | null = null
  wheelSlot = -1
  readonly #client: ClientStream
  readonly #budget: TransferBudget
  readonly #wheel: TimerWheel
  #held = 0

  constructor(client: ClientStream, budget: TransferBudget, wheel: TimerWheel) {
    this.#client = client
    this.#budget = budget
    this.#wheel = wheel
    client.owner = this
  }

  send(headers: readonly string[], value: Uint8Array): void {
    const client = this.#client
    client.start(200, headers, value.length)
    if (client.write(value) || client.isGone) return
    const held = client.unsentBytes
    if (!this.#budget.take(held)) {
      client.abort()
      return
    }
    this.#held = held
    this.#budget.open++
    this.dueAt = performance.now() + TRANSFER_MS
    this.#wheel.arm(this)
  }

  onClientDrain(): void {
    this.#end()
  }

  onClientAbort(): void {
    this.#end()
  }

  onBodyInvalid(): void {}

  onDeadline(): void {
    this.#client.abort()
    this.#end()
  }

  #end(): void {
    if (this.#held === 0) return
    this.#wheel.disarm(this)
    this.#budget.giveBack(this.#held)
    this.#budget.open--
    this.#held = 0
  }
}
