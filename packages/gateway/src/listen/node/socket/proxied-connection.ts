import type net from 'node:net'
import type { Deadline, TimerWheel } from '../../../lib/timer-wheel.js'
import { type ProxyHeader, readProxyHeader } from './proxy-header.js'
import type { SocketReader } from './server-socket.js'

/**
 * Continues a connection whose PROXY header has arrived. Returns the reader of the remaining bytes, or null if the
 * socket was handed over.
 */
export type OnProxied = (header: ProxyHeader, rest: Buffer) => SocketReader | null

/** A connection from a trusted proxy, until its PROXY header arrives. A missing or invalid header ends it. */
export class ProxiedConnection implements SocketReader, Deadline {
  dueAt: number
  wheelNext: Deadline | null = null
  wheelPrevious: Deadline | null = null
  wheelSlot = -1
  readonly #socket: net.Socket
  readonly #wheel: TimerWheel
  readonly #onProxied: OnProxied
  #bytes = Buffer.alloc(0)
  #isOver = false
  #reader: SocketReader | null = null

  /** @param withinMs timeout for the header. */
  constructor(socket: net.Socket, wheel: TimerWheel, withinMs: number, onProxied: OnProxied) {
    this.#socket = socket
    this.#wheel = wheel
    this.#onProxied = onProxied
    this.dueAt = performance.now() + withinMs
    wheel.arm(this)
    socket.on('error', () => {})
    socket.on('end', () => this.#isOver || socket.destroy())
    socket.on('close', () => wheel.disarm(this))
  }

  onBytes(bytes: Buffer, length: number): void {
    if (this.#isOver) {
      this.#reader?.onBytes(bytes, length)
      return
    }
    this.#bytes = Buffer.concat([this.#bytes, bytes.subarray(0, length)])
    const header = readProxyHeader(this.#bytes)
    if (header === null) return
    if (header === 'broken') this.#socket.destroy()
    else this.#handOver(header)
  }

  #handOver(header: ProxyHeader): void {
    const rest = this.#bytes.subarray(header.length)
    this.#bytes = Buffer.alloc(0)
    this.#isOver = true
    this.#wheel.disarm(this)
    this.#reader = this.#onProxied(header, rest)
    if (rest.length > 0) this.#reader?.onBytes(rest, rest.length)
  }

  onDeadline(): void {
    this.#socket.destroy()
  }
}
