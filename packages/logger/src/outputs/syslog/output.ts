import type { Delivery, LogOutput, Refusal, Shipment } from '../output.js'
import { SyslogMessages } from './message.js'
import { parseSyslogAddress, type SyslogOptions, type SyslogTransport } from './options.js'
import { StreamTransport } from './stream-transport.js'
import { MAX_DATAGRAM_BYTES, UdpTransport } from './udp-transport.js'

/** Output to a syslog receiver: RFC 5424 messages over UDP (RFC 5426), TCP (RFC 6587) or TLS (RFC 5425). */
export class SyslogOutput implements LogOutput {
  readonly #options: SyslogOptions
  readonly #messages: SyslogMessages
  readonly #transport: SyslogTransport
  readonly #maxBytes: number

  /** @throws Error if the address is invalid. */
  constructor(options: SyslogOptions) {
    const address = parseSyslogAddress(options.address)
    this.#options = options
    this.#messages = new SyslogMessages(options)
    const isUdp = address.transport === 'udp'
    this.#transport = isUdp ? new UdpTransport(address) : new StreamTransport(address, options.tls)
    this.#maxBytes = isUdp ? Math.min(MAX_DATAGRAM_BYTES, options.maxMessageBytes) : options.maxMessageBytes
  }

  async deliver(shipment: Shipment): Promise<Delivery> {
    const messages: Buffer[] = []
    const refused: Refusal[] = []
    for (let index = 0; index < shipment.count; index++) {
      const message = this.#messages.messageOf(shipment.jsonOf(index), shipment.idOf(index))
      if (message.length <= this.#maxBytes) messages.push(message)
      else refused.push(this.#tooLong(index, message.length))
    }
    try {
      if (messages.length > 0) await this.#transport.send(messages)
    } catch (error) {
      const reason = `syslog at ${this.#options.address}: ${(error as Error).message}`
      return { kind: 'failed', overload: false, reason }
    }
    return { kind: 'answered', refused, again: [] }
  }

  async close(): Promise<void> {
    this.#transport.close()
  }

  /**
   * Returns the refusal of a record that is too long. It is not truncated, because that would make its JSON
   * invalid.
   */
  #tooLong(index: number, bytes: number): Refusal {
    const reason = `the message has ${bytes} bytes, more than the limit of ${this.#maxBytes}; see log.syslog.maxMessageBytes`
    return { index, status: 0, type: 'message_too_long', reason }
  }
}
