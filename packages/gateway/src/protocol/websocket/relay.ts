import type { WebSocketCounts } from '@sluice/core'
import type { Deadline, TimerWheel } from '../../lib/timer-wheel.js'
import type { FrameEnd, FrameOwner } from './frame-end.js'
import { FrameWalker } from './frame-walker.js'
import { formClose } from './frames.js'

/** Time that a side has to answer a close frame and read the remaining bytes, in milliseconds. */
const CLOSE_WAIT_MS = 5000
const RATE_WINDOW_MS = 1000
const GOING_AWAY = 1001
const CUT = 1006

/** Limits of a relay. */
export interface RelayBounds {
  readonly idleMs: number
  readonly maxMessageBytes: number
  /** Maximum number of messages and control frames per second from the client. */
  readonly rate: number
  readonly isCompressible: boolean
}

interface RelayOptions {
  readonly client: FrameEnd
  readonly target: FrameEnd
  readonly bounds: RelayBounds
  readonly wheel: TimerWheel
  readonly counts: WebSocketCounts
  readonly onFault: (error: unknown) => void
  /** Called when both connections have closed. */
  readonly onOver: () => void
}

type Closer = WebSocketCounts['closedBy']

/**
 * Relays the frames of a WebSocket connection in both directions. Messages are not buffered: bytes are forwarded as
 * they arrive, and a side that does not read stops the reads from the other side.
 *
 *     client ─► walker ─► target        open ─► closing (a close frame was sent to a side) ─► over
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

  /** Restarts the idle timeout after bytes were received or sent. */
  touch(nowMono: number): void {
    if (!this.#isClosing) this.dueAt = nowMono + this.#options.bounds.idleMs
  }

  /** Closes the connection from the gateway: sends a close frame to both sides and waits a while for their answers. */
  close(code = GOING_AWAY): void {
    this.beginClosing('gateway', code)
    // Close the target first: an engine may drop its client at once, and the target would be cut with it.
    this.#target.sendClose(code)
    this.#client.sendClose(code)
  }

  /** Starts the closing timeout when the first close frame is on its way. */
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

  destroy(): void {
    this.#client.end.destroy()
    this.#target.end.destroy()
  }

  /** Reports an internal error, which ends this connection only. */
  onFault(error: unknown): void {
    this.#options.onFault(error)
    this.destroy()
  }

  onSideGone(side: Side): void {
    // A side that has sent its close frame may disconnect while the other one still answers it. Otherwise the
    // connection was cut, and the other side sees that too.
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

/** A side of the relay. Forwards received bytes to the other side. */
class Side implements FrameOwner {
  readonly name: 'client' | 'upstream'
  readonly end: FrameEnd
  readonly walker: FrameWalker
  other!: Side
  isGone = false
  /** Number of bytes forwarded from this side. */
  bytes = 0
  readonly #relay: WebSocketRelay
  readonly #rate: number
  #windowUntil = 0
  /** Start of an incomplete frame head. */
  #held: Buffer | null = null
  /** True once a close frame was sent to this side. Nothing may follow it. */
  #isClosing = false
  /** Code of a close frame that waits for the end of the current frame, or 0. */
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
    const { maxMessageBytes, isCompressible } = options.bounds
    this.walker = new FrameWalker({ isMasked: this.name === 'client', isCompressible, maxMessageBytes })
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

  /** Ends the connection once close frames went both ways, or once the peer has sent an invalid frame. */
  #endClosed(): void {
    if (this.#isClosing && (this.walker.isClosed || this.walker.problem !== 0)) this.end.end()
  }

  /** Sends a close frame after the frame currently being relayed to this side. */
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
      // uWebSockets.js ends the process if a callback throws.
      this.#relay.onFault(error)
    }
  }
}
