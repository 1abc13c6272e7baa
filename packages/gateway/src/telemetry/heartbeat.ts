/** Interval of heartbeats in milliseconds, an eighth of the watchdog's limit. */
const HEARTBEAT_MS = 500
/** Interval of the timer in milliseconds. */
const POLL_MS = 50
/** Delay of the timer in milliseconds after which requests send the heartbeat instead. */
const MOST_LATE_MS = 100

/**
 * A worker's heartbeat. Normally a timer sends it. Under load the event loop may handle 49,152 socket events
 * before it runs timers, `setImmediate` and new sockets (libuv's `uv__io_poll`: 48 times 1024 while there are
 * more than 1024). Requests, body chunks and rejected connections therefore check whether the timer is late,
 * using a clock they have read anyway. If so, they send the heartbeat and make the loop turn.
 */
export class Heartbeat {
  /** Monotonic time from which the timer counts as late, in milliseconds. */
  dueMono = Number.POSITIVE_INFINITY
  readonly #send: () => void
  readonly #turn: () => void
  #sendDueMono = 0

  /**
   * @param send sends the heartbeat to the supervisor.
   * @param turn makes the event loop run its timers soon.
   */
  constructor(send: () => void, turn: () => void) {
    this.#send = send
    this.#turn = turn
  }

  /** Starts the heartbeat for the lifetime of the process. */
  begin(): void {
    this.#check()
    setInterval(() => this.#check(), POLL_MS)
  }

  /**
   * Sends the heartbeat if it is due. Called where no request begins or ends: chunks of large bodies keep the
   * event loop as busy as requests do. A thousand of them, megabytes each, may arrive before the loop can
   * turn.
   */
  beatIfLate(): void {
    const nowMono = performance.now()
    if (nowMono >= this.dueMono) this.beatLate(nowMono)
  }

  /** Sends the heartbeat in place of the late timer. */
  beatLate(nowMono: number): void {
    this.#beat(nowMono)
    this.#turn()
  }

  #check(): void {
    this.#beat(performance.now())
  }

  #beat(nowMono: number): void {
    this.dueMono = nowMono + MOST_LATE_MS
    if (nowMono < this.#sendDueMono) return
    this.#sendDueMono = nowMono + HEARTBEAT_MS
    this.#send()
  }
}

/** Heartbeat of a data plane without a supervisor. */
export const NO_HEARTBEAT = new Heartbeat(
  () => {},
  () => {},
)
