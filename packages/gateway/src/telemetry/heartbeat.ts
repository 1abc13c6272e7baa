/** How often a worker shows that it works, in milliseconds; an eighth of what the watchdog allows. */
const HEARTBEAT_MS = 500
/** How often the timer looks, in milliseconds. */
const LOOK_MS = 50
/** So late the timer may be, in milliseconds, before the event loop is asked to turn. */
const MOST_LATE_MS = 100

/**
 * A worker's sign of life. A timer sends it while there is little to do. Under load the event loop may take 49,152 socket
 * events before it looks at its timers, its `setImmediate` and sockets that are new to it (libuv's `uv__io_poll`: 48 times
 * 1024 as long as there are more than 1024). Requests, with the clock that they have read anyway, pieces of bodies and
 * connections that are turned away notice that the timer is late: they send the sign of life and ask the loop to turn.
 */
export class Heartbeat {
  /** From when on the timer is late, on the monotonic clock. */
  dueMono = Number.POSITIVE_INFINITY
  readonly #send: () => void
  readonly #turn: () => void
  #sendDueMono = 0

  /**
   * @param send shows the supervisor.
   * @param turn makes the event loop look at its timers soon.
   */
  constructor(send: () => void, turn: () => void) {
    this.#send = send
    this.#turn = turn
  }

  /** Begins to beat, until the process ends. */
  begin(): void {
    this.#look()
    setInterval(() => this.#look(), LOOK_MS)
  }

  /**
   * Called where no request begins or ends. Pieces of large bodies keep the event loop as full as requests do, and a
   * thousand of them may come in one go, megabytes each, before the loop can turn.
   */
  beatIfLate(): void {
    const nowMono = performance.now()
    if (nowMono >= this.dueMono) this.beatLate(nowMono)
  }

  /** Called instead of the timer, which is late. */
  beatLate(nowMono: number): void {
    this.#beat(nowMono)
    this.#turn()
  }

  #look(): void {
    this.#beat(performance.now())
  }

  #beat(nowMono: number): void {
    this.dueMono = nowMono + MOST_LATE_MS
    if (nowMono < this.#sendDueMono) return
    this.#sendDueMono = nowMono + HEARTBEAT_MS
    this.#send()
  }
}

/** The heartbeat of a data plane that nobody watches. */
export const NO_HEARTBEAT = new Heartbeat(
  () => {},
  () => {},
)
