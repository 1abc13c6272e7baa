import type { OnSocket } from './server-socket.js'

/**
 * Counts the connections that are accepted in each turn of the event loop. After a turn in which every descriptor accepted
 * one, more of them may wait in the queue of the system, where nothing else shows for how long.
 */
export class AcceptTurns {
  /** Connections that can be accepted in one turn. */
  capacity: number
  readonly #onFullTurn: (isFirst: boolean) => void
  #accepted = 0
  #wasFull = false
  #isWaiting = false
  readonly #endTurn = (): void => {
    const isFull = this.#accepted >= this.capacity
    this.#accepted = 0
    this.#isWaiting = false
    // A turn in which nothing is accepted has to be seen as well.
    if (isFull) this.#waitForEnd()
    if (isFull) this.#onFullTurn(!this.#wasFull)
    this.#wasFull = isFull
  }

  /** @param onFullTurn hears of each full turn; true: the turn before was not full. */
  constructor(capacity: number, onFullTurn: (isFirst: boolean) => void) {
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
