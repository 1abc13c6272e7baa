/** Milliseconds per tick, which is the most a deadline can fire late. */
const TICK_MS = 50
/** Number of slots. One turn covers 256 x 50 ms = 12.8 s; a later deadline is checked once per turn until it is due. */
const SLOTS = 256
/** Index of the list for the slot being visited. */
const VISITED = SLOTS

/** An object with a deadline. The link fields belong to the wheel. */
export interface Deadline {
  /**
   * Deadline on the monotonic clock, in milliseconds. May be moved later freely; call `arm` again to move it earlier.
   */
  dueAt: number
  wheelNext: Deadline | null
  wheelPrevious: Deadline | null
  wheelSlot: number
  /** Called once the deadline has passed, after its removal from the wheel. Must not throw. */
  onDeadline(): void
}

/**
 * A single timer for the deadlines of all requests of a worker. Arming and disarming only link and unlink. Moving a deadline
 * later, as idle timeouts do with every chunk, costs one assignment; arming it again costs one comparison.
 *
 *     slot 0      1      2   …  255
 *          │      │
 *          d1     d4          each slot: a doubly linked list of deadlines due about then
 *          d2
 */
export class TimerWheel {
  readonly #slots: (Deadline | null)[] = new Array<Deadline | null>(SLOTS + 1).fill(null)
  #armed = 0
  #turned = 0
  #timer: NodeJS.Timeout | null = null

  get armed(): number {
    return this.#armed
  }

  arm(deadline: Deadline): void {
    if (deadline.wheelSlot >= 0) {
      if (this.#isVisitedInTime(deadline)) return
      this.#unlink(deadline)
    } else this.#armed++
    if (this.#timer === null) this.#start()
    this.#link(deadline)
  }

  disarm(deadline: Deadline): void {
    if (deadline.wheelSlot < 0) return
    this.#unlink(deadline)
    this.#armed--
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #start(): void {
    this.#turned = Math.floor(performance.now() / TICK_MS)
    this.#timer = setInterval(() => this.turn(performance.now()), TICK_MS)
    this.#timer.unref()
  }

  /** Fires the deadlines that are due. @internal */
  turn(nowMs: number): void {
    const until = Math.floor(nowMs / TICK_MS)
    // After a long pause of the process, one full turn visits every slot.
    if (until - this.#turned > SLOTS) this.#turned = until - SLOTS
    while (this.#turned < until) {
      this.#turned++
      this.#visit(this.#turned % SLOTS, nowMs)
    }
    if (this.#armed === 0) this.close()
  }

  /**
   * Moves the slot's deadlines to a separate list and removes them one by one. A deadline may disarm or move another one
   * of the same slot, which is then still linked.
   */
  #visit(slot: number, nowMs: number): void {
    const first = this.#slots[slot]!
    this.#slots[slot] = null
    this.#slots[VISITED] = first
    for (let each: Deadline | null = first; each !== null; each = each.wheelNext) each.wheelSlot = VISITED
    for (let due = first; due !== null; due = this.#slots[VISITED]!) {
      this.#unlink(due)
      if (due.dueAt <= nowMs) {
        this.#armed--
        due.onDeadline()
      } else {
        this.#link(due)
      }
    }
  }

  /** Returns true if the deadline's present slot is visited before it is due. It is relinked at that visit. */
  #isVisitedInTime({ wheelSlot, dueAt }: Deadline): boolean {
    if (wheelSlot === VISITED) return false
    // The slot visited last is visited again after a full turn.
    const ahead = (wheelSlot - this.#turned) & (SLOTS - 1) || SLOTS
    return (this.#turned + ahead) * TICK_MS <= dueAt
  }

  #link(deadline: Deadline): void {
    const tick = Math.max(Math.ceil(deadline.dueAt / TICK_MS), this.#turned + 1)
    const slot = Math.min(tick, this.#turned + SLOTS) % SLOTS
    const first = this.#slots[slot]!
    deadline.wheelSlot = slot
    deadline.wheelPrevious = null
    deadline.wheelNext = first
    if (first !== null) first.wheelPrevious = deadline
    this.#slots[slot] = deadline
  }

  #unlink(deadline: Deadline): void {
    const previous = deadline.wheelPrevious
    const next = deadline.wheelNext
    if (previous === null) this.#slots[deadline.wheelSlot] = next
    else previous.wheelNext = next
    if (next !== null) next.wheelPrevious = previous
    deadline.wheelNext = null
    deadline.wheelPrevious = null
    deadline.wheelSlot = -1
  }
}
