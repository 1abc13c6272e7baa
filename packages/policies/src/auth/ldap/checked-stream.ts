import type net from 'node:net'
import { Duplex } from 'node:stream'
import { checkedMessage, messageLength } from './message-check.js'

/** Maximum size of a message, and of all messages in response to one request, in bytes. */
const MAX_MESSAGE = 1024 * 1024
const MAX_RESPONSE = 4 * MAX_MESSAGE

/** Assembles the received bytes into whole messages. */
export class MessageReader {
  #chunks: Buffer[] = []
  #size = 0
  /** Length of the current message in bytes, or 0 if not known yet. */
  #length = 0

  /** Number of received bytes that do not form a whole message yet. */
  get rest(): number {
    return this.#size
  }

  /**
   * Returns the messages completed by this chunk. @throws Error if the bytes are not LDAP messages, or if a
   * message is too long.
   */
  *take(chunk: Buffer): Generator<Uint8Array> {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    for (;;) {
      if (this.#length === 0) this.#length = this.#nextLength()
      if (this.#length === 0 || this.#size < this.#length) return
      const whole = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
      const message = checkedMessage(whole.subarray(0, this.#length))
      if (message === null) throw new Error('the directory sent an invalid LDAP message')
      this.#chunks = [whole.subarray(this.#length)]
      this.#size = whole.length - this.#length
      this.#length = 0
      yield message
    }
  }

  #nextLength(): number {
    if (this.#chunks.length > 1 && this.#chunks[0]!.length < 6) this.#chunks = [Buffer.concat(this.#chunks)]
    const length = messageLength(this.#chunks[0] ?? Buffer.alloc(0))
    if (length === null) throw new Error('the directory sent an invalid LDAP message')
    if (length > MAX_MESSAGE) throw new Error('the directory sent a message that is too long')
    return length
  }
}

/**
 * Connection to a directory that passes on only whole, valid messages, one at a time, and limits the total
 * size of a response. It ends at the first invalid byte.
 */
export class CheckedStream extends Duplex {
  /** Part of the socket interface that the client library needs. */
  readonly connecting = false
  readonly readyState = 'open'
  readonly #socket: net.Socket
  readonly #reader = new MessageReader()
  #received = 0

  constructor(socket: net.Socket) {
    super()
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  #take(chunk: Buffer): void {
    this.#received += chunk.length
    try {
      if (this.#received > MAX_RESPONSE) throw new Error('the directory sent a response that is too long')
      for (const message of this.#reader.take(chunk)) this.push(message)
    } catch (error) {
      this.destroy(error as Error)
    }
  }

  /** Does nothing: responses are bounded and read at once. */
  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#received = 0
    this.#socket.write(chunk, done)
  }

  override _final(done: () => void): void {
    this.#socket.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}
