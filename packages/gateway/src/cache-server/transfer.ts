import type { Deadline, TimerWheel } from '../lib/timer-wheel.js'
import type { ClientOwner, ClientStream } from '../listen/listener.js'

/** Maximum number of bytes buffered per thread for slow clients. Clients that would need more are refused. */
const MAX_HELD_BYTES = 64 * 1024 ** 2
/** Time limit of a transfer in milliseconds. */
const TRANSFER_MS = 30_000

/** Transfers of one thread: their number, their memory, and their time limits. */
export interface Transfers {
  readonly wheel: TimerWheel
  /** Number of transfers in progress. */
  open: number
  heldBytes: number
}

/** A value that is received or sent in more than one piece. */
export abstract class Transfer implements ClientOwner, Deadline {
  dueAt = 0
  wheelNext: Deadline | null = null
  wheelPrevious: Deadline | null = null
  wheelSlot = -1
  protected readonly client: ClientStream
  readonly #all: Transfers
  #heldBytes = 0
  #isOpen = false

  constructor(client: ClientStream, all: Transfers) {
    this.client = client
    this.#all = all
    client.owner = this
  }

  /** Starts the time limit. */
  protected open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#all.open++
    this.dueAt = performance.now() + TRANSFER_MS
    this.#all.wheel.arm(this)
  }

  /** Reserves memory. Returns false if too much is in use. */
  protected hold(bytes: number): boolean {
    if (this.#all.heldBytes + bytes > MAX_HELD_BYTES) return false
    this.#all.heldBytes += bytes
    this.#heldBytes += bytes
    return true
  }

  /** Releases the memory and ends the time limit. */
  protected close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#all.wheel.disarm(this)
    this.#all.open--
    this.#all.heldBytes -= this.#heldBytes
  }

  onClientAbort(): void {
    this.close()
  }

  onClientDrain(): void {}

  onBodyInvalid(): void {}

  abstract onDeadline(): void
}
