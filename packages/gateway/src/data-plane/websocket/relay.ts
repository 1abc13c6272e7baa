import type { WebSocketCounts } from '@sluice/core'
import type { Deadline, TimerWheel } from '../lib/timer-wheel.js'
import type { FrameEnd, FrameOwner } from './frame-end.js'
import { FrameWalker } from './frame-walker.js'
import { formClose } from './frames.js'

/** A side that was sent a close frame has so long to answer it and to take what it is sent. */
const CLOSE_WAIT_MS = 5000
const RATE_WINDOW_MS = 1000
const GOING_AWAY = 1001
const CUT = 1006

/** What a relay keeps to. */
export interface RelayBounds {
  readonly idleMs: number
  readonly maxMessage: number
  /** Messages and control frames of the client in a second. */
  readonly rate: number
  readonly isCompressible: boolean
}

export interface RelayOptions {
  readonly client: FrameEnd
  readonly target: FrameEnd
  readonly bounds: RelayBounds
  readonly wheel: TimerWheel
  readonly counts: WebSocketCounts
  readonly onFault: (error: unknown) => void
  /** Both connections are gone. */
  readonly onOver: () => void
}

type Closer = WebSocketCounts['closedBy']

/**
 * Relays the frames of a WebSocket connection both ways. No message is ever held: bytes go on as they come, and a side that
 * does not take them makes the other one wait.
 *
 *     client ─► walker ─► target        open ─► closing (a close frame went to a side) ─► over
 *     client ◄─ walker ◄─ target
 */
export class WebSocketRelay implements Deadline {
  dueAt = 0
  wheelNext: Deadline | null = null
  wheelPrevious: Deadline | null = null
  wheelSlot = -1
  readonly #options: RelayOptions
  readonly #client: Side
  readonly #target: Side
  #isClosing = false
  #isOver = false

  constructor(options: RelayOptions) {
    this.#options = options
    const { client, target, bounds } = options
    this.#client = new Side(this, client, { name: 'client', bounds, rate: bounds.rate })
    this.#target = new Side(this, target, { name: 'upstream', bounds, rate: Number.POSITIVE_INFINITY })
    this.#client.other = this.#target
    this.#target.other = this.#client
  }

  start(): void {
    this.touch(performance.now())
    this.#options.wheel.arm(this)
    this.#client.start()
    this.#target.start()
  }

  get messages(): { messagesIn: number; messagesOut: number } {
    return { messagesIn: this.#client.walker.messages, messagesOut: this.#target.walker.messages }
  }

  /** Something came, or was taken. */
  touch(nowMono: number): void {
    if (!this.#isClosing) this.dueAt = nowMono + this.#options.bounds.idleMs
  }

  /** Ends it from here: both sides are sent a close frame, and have a while to answer. */
  close(code = GOING_AWAY): void {
    this.beginClosing('gateway', code)
    // An engine may drop its client at once, and the target would be cut with it.
    this.#target.sendClose(code)
    this.#client.sendClose(code)
  }

  /** The first close frame is on its way: the time for the rest of the connection begins. */
  beginClosing(by: Closer, code: number): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#options.counts.closedBy = by
    this.#options.counts.closeCode = code
    this.dueAt = performance.now() + CLOSE_WAIT_MS
    this.#options.wheel.arm(this)
  }

  onDeadline(): void {
    if (this.#isClosing) this.destroy()
    else this.close()
  }

  /** Cuts both connections. */
  destroy(): void {
    this.#client.end.destroy()
    this.#target.end.destroy()
  }

  /** What fails costs this connection only. */
  onFault(error: unknown): void {
    this.#options.onFault(error)
    this.destroy()
  }

  onSideGone(side: Side): void {
    // A side that has sent its close frame may go, and the other one still answers it; else that sees a cut connection.
    if (!side.walker.isClosed) {
      this.beginClosing(side.name, CUT)
      side.other.end.end()
    }
    if (!this.#client.isGone || !this.#target.isGone || this.#isOver) return
    this.#isOver = true
    this.#options.wheel.disarm(this)
    const { counts } = this.#options
    Object.assign(counts, this.messages)
    counts.bytesIn = this.#client.bytes
    counts.bytesOut = this.#target.bytes
    this.#options.onOver()
  }
}

const NO_REASON = Buffer.alloc(0)

/** What comes from one side, on its way to the other. */
class Side implements FrameOwner {
  readonly name: 'client' | 'upstream'
  readonly end: FrameEnd
  readonly walker: FrameWalker
  other!: Side
  isGone = false
  /** Bytes that went on. */
  bytes = 0
  readonly #relay: WebSocketRelay
  readonly #rate: number
  #windowUntil = 0
  /** The beginning of a frame's head. */
  #held: Buffer | null = null
  /** A close frame went to it: nothing may follow. */
  #isClosing = false
  /** The code of a close frame that waits for the frame before it; 0: none does. */
  #pendingClose = 0

  constructor(
    relay: WebSocketRelay,
    end: FrameEnd,
    options: { readonly name: 'client' | 'upstream'; readonly bounds: RelayBounds; readonly rate: number },
  ) {
    this.#relay = relay
    this.end = end
    this.name = options.name
    this.#rate = options.rate
    const { maxMessage, isCompressible } = options.bounds
    this.walker = new FrameWalker({ isMasked: this.name === 'client', isCompressible, maxMessage })
  }

  start(): void {
    this.end.owner = this
    this.end.resume()
  }

  onBytes(bytes: Buffer, length: number): void {
    try {
      this.#take(bytes, length)
    } catch (error) {
      this.#relay.onFault(error)
    }
  }

  #take(bytes: Buffer, length: number): void {
    const { walker } = this
    if (walker.isClosed || walker.problem !== 0) return
    const nowMono = performance.now()
    this.#relay.touch(nowMono)
    if (nowMono >= this.#windowUntil) {
      walker.allowance = this.#rate
      this.#windowUntil = nowMono + RATE_WINDOW_MS
    }
    const held = this.#held
    const whole = held === null ? bytes : Buffer.concat([held, bytes.subarray(0, length)])
    const to = held === null ? length : whole.length
    const at = walker.walk(whole, 0, to)
    this.#held = at < to ? Buffer.from(whole.subarray(at, to)) : null
    if (walker.isClosed) this.#relay.beginClosing(this.name, walker.closeCode)
    if (at > 0) this.#forward(whole, at)
    if (walker.problem !== 0) this.#relay.close(walker.problem)
    this.#endClosed()
    this.other.#endClosed()
  }

  #forward(bytes: Buffer, to: number): void {
    const { other } = this
    if (other.#isClosing) return
    this.bytes += to
    if (this.walker.isClosed) other.#isClosing = true
    if (!other.end.write(bytes, 0, to)) this.end.pause()
    if (other.#pendingClose !== 0) other.sendClose(other.#pendingClose)
  }

  /** The gateway ends a connection once close frames went both ways, or nothing valid can come. */
  #endClosed(): void {
    if (this.#isClosing && (this.walker.isClosed || this.walker.problem !== 0)) this.end.end()
  }

  /** Sends a close frame behind the frame that is on its way to it. */
  sendClose(code: number): void {
    if (this.#isClosing) return
    this.#pendingClose = code
    if (!this.other.walker.isBetween) return
    this.#isClosing = true
    const frame = formClose(code, NO_REASON, this.name === 'upstream')
    this.end.write(frame, 0, frame.length)
  }

  onRoom(): void {
    this.#relay.touch(performance.now())
    this.other.end.resume()
  }

  onGone(): void {
    if (this.isGone) return
    this.isGone = true
    try {
      this.#relay.onSideGone(this)
    } catch (error) {
      // An engine ends the process for what is thrown into it.
      this.#relay.onFault(error)
    }
  }
}
