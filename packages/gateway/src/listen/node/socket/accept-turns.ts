import type { OnSocket } from './server-socket.js'

/**
 * Counts the connections accepted in each turn of the event loop. If every descriptor has accepted one, more may be
 * waiting in the kernel's queue, where the waiting time is not visible.
 */
export class AcceptTurns {
  /** Number of connections that can be accepted per turn. */
  capacity: number
  readonly #onFullTurn: () => void
  #accepted = 0
  #isWaiting = false
  readonly #endTurn = (): void => {
    const isFull = this.#accepted >= this.capacity
    this.#accepted = 0
    this.#isWaiting = false
    if (isFull) this.#onFullTurn()
  }

  /** @param onFullTurn called after each full turn. */
  constructor(capacity: number, onFullTurn: () => void) {
    this.capacity = capacity
    this.#onFullTurn = onFullTurn
  }

  counted(onSocket: OnSocket): OnSocket {
    return (socket) => {
      this.#accepted++
      this.#waitForEnd()
      return onSocket(socket)
    }
  }

  #waitForEnd(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    setImmediate(this.#endTurn)
  }
}
