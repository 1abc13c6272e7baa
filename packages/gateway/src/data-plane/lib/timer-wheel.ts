/** Milliseconds between two turns: a deadline fires at most this much late. */
const TICK_MS = 50
/** One round covers 256 x 50 ms = 12.8 s; a later deadline is looked at once a round until it is due. */
const SLOTS = 256
/** The list of the slot that is being visited. */
const VISITED = SLOTS

/** Something with a deadline. The links belong to the wheel. */
export interface Deadline {
  /** Monotonic clock, ms. May be moved later at will; to move it earlier, set it again with `arm`. */
  dueAt: number
  wheelNext: Deadline | null
  wheelPrevious: Deadline | null
  wheelSlot: number
  /** Runs once the deadline has passed; it is off the wheel then. Must not throw. */
  onDeadline(): void
}

/**
 * One timer for the deadlines of all requests of a worker. Arming and disarming is linking and unlinking; a deadline
 * that moves later, as idle time-outs do with every chunk, costs one assignment, and armed again a comparison.
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

  /** Fires what is due. @internal */
  turn(nowMs: number): void {
    const until = Math.floor(nowMs / TICK_MS)
    // After a long pause of the process one full round visits every slot.
    if (until - this.#turned > SLOTS) this.#turned = until - SLOTS
    while (this.#turned < until) {
      this.#turned++
      this.#visit(this.#turned % SLOTS, nowMs)
    }
    if (this.#armed === 0) this.close()
  }

  /**
   * The slot's deadlines move to a list of their own and leave it one by one, so that a deadline that disarms or
   * moves another one of the same slot finds it linked.
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

  /** Where it is linked already it is looked at before it is due, and moved on then. */
  #isVisitedInTime({ wheelSlot, dueAt }: Deadline): boolean {
    if (wheelSlot === VISITED) return false
    // The slot that was turned last comes again after a whole round.
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
