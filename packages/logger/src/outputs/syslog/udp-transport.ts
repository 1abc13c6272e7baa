import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import type { SyslogAddress, SyslogTransport } from './options.js'

/** Maximum UDP payload over IPv6 without extension headers: 65,535 - 40 - 8. Smaller than over IPv4. */
export const MAX_DATAGRAM_BYTES = 65_487
/**
 * Datagrams sent before a pause. A receiver with a full buffer drops datagrams silently, so this limits the
 * rate to about 30,000 per second.
 */
const BURST = 32
const PAUSE_MS = 1
/** Wait for a report that no process listens on the port, in milliseconds. */
const GRACE_MS = 50
/**
 * Interval for resolving the host name again, in milliseconds. UDP does not signal that a receiver has moved.
 */
const RESOLVE_EVERY_MS = 60_000

interface Channel {
  readonly socket: Socket
  readonly openedMono: number
  /** Error reported by the receiver's host (ICMP port unreachable), or null. */
  error: Error | null
}

/**
 * Sends one message per datagram (RFC 5426). UDP has no acknowledgements; only an unreachable port is
 * detected.
 */
export class UdpTransport implements SyslogTransport {
  readonly #address: SyslogAddress
  #channel: Promise<Channel> | null = null
  #last: Promise<void> = Promise.resolve()

  constructor(address: SyslogAddress) {
    this.#address = address
  }

  /** Sends batches one at a time, so that the pauses limit the total rate. */
  send(messages: readonly Buffer[]): Promise<void> {
    const sent = this.#last.then(() => this.#send(messages))
    this.#last = sent.catch(() => {})
    return sent
  }

  close(): void {
    this.#closeChannel()
  }

  async #send(messages: readonly Buffer[]): Promise<void> {
    try {
      const channel = await this.#open()
      for (let i = 0; i < messages.length; i++) {
        await sendOne(channel, messages[i]!)
        if (i % BURST === BURST - 1) await pause(PAUSE_MS)
      }
      await pause(GRACE_MS)
      if (channel.error !== null) throw channel.error
      if (performance.now() - channel.openedMono > RESOLVE_EVERY_MS) this.#closeChannel()
    } catch (error) {
      this.#closeChannel()
      throw error
    }
  }

  #open(): Promise<Channel> {
    this.#channel ??= openChannel(this.#address)
    return this.#channel
  }

  #closeChannel(): void {
    this.#channel?.then(
      ({ socket }) => socket.close(),
      () => {},
    )
    this.#channel = null
  }
}

/** Opens a connected socket. Only a connected socket reports refused datagrams. */
async function openChannel({ host, port }: SyslogAddress): Promise<Channel> {
  const { address, family } = await lookup(host)
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
  const channel: Channel = { socket, openedMono: performance.now(), error: null }
  socket.on('error', (error) => {
    channel.error = error
  })
  await new Promise<void>((resolve, reject) => {
    socket.connect(port, address, (error?: Error) => (error === undefined ? resolve() : reject(error)))
  })
  return channel
}

function sendOne(channel: Channel, message: Buffer): Promise<void> {
  if (channel.error !== null) return Promise.reject(channel.error)
  return new Promise((resolve, reject) => {
    channel.socket.send(message, (error) => (error === null ? resolve() : reject(error)))
  })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
