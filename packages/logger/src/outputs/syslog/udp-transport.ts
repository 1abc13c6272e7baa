import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import type { SyslogAddress } from './options.js'
import type { SyslogTransport } from './transport.js'

/** The most that fits a datagram of IPv6 without extension, which is less than IPv4 takes: 65,535 - 40 - 8. */
export const MAX_DATAGRAM_BYTES = 65_487
/** A receiver whose buffer is full drops datagrams unseen; after so many it gets a moment, about 30,000 a second. */
const BURST = 32
const PAUSE_MS = 1
/** A host on which nobody listens says so within this time, if at all. */
const GRACE_MS = 50
/** The name is resolved again after this time, as nothing says that a receiver has moved, ms. */
const RESOLVE_EVERY_MS = 60_000

interface Channel {
  readonly socket: Socket
  readonly openedMono: number
  /** Reported by the receiver's host: nobody listens there (ICMP). */
  error: Error | null
}

/** One message a datagram (RFC 5426). UDP does not say what arrives; only a refusal of the host is noticed. */
export class UdpTransport implements SyslogTransport {
  readonly #address: SyslogAddress
  #channel: Promise<Channel> | null = null
  #last: Promise<void> = Promise.resolve()

  constructor(address: SyslogAddress) {
    this.#address = address
  }

  /** One after the other, so that the pauses mean something. */
  send(messages: readonly Buffer[]): Promise<void> {
    const sent = this.#last.then(() => this.#send(messages))
    this.#last = sent.catch(() => {})
    return sent
  }

  close(): void {
    this.#letGo()
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
      if (performance.now() - channel.openedMono > RESOLVE_EVERY_MS) this.#letGo()
    } catch (error) {
      this.#letGo()
      throw error
    }
  }

  #open(): Promise<Channel> {
    this.#channel ??= openChannel(this.#address)
    return this.#channel
  }

  #letGo(): void {
    this.#channel?.then(
      ({ socket }) => socket.close(),
      () => {},
    )
    this.#channel = null
  }
}

/** The socket is connected, because only then the system reports that a datagram was refused. */
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
