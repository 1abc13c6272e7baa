import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { readTlsFiles } from '@sluice/core'
import type { SyslogAddress, SyslogTlsOptions, SyslogTransport } from './options.js'

const CONNECT_MS = 10_000
/** Time after which a stalled receiver is disconnected, in milliseconds. */
const WRITE_MS = 30_000
/** Wait for a sign that the connection was already broken or the receiver rejects it, in milliseconds. */
const GRACE_MS = 200
const KEEP_ALIVE_MS = 15_000

/**
 * Sends messages over one TCP or TLS connection, each prefixed with its length (RFC 6587 section 3.4.1, RFC
 * 5425 section 4.3). There are no acknowledgements. Messages count as delivered if the system has accepted
 * them and the connection is still open shortly afterwards. A closed connection is reopened for the next
 * messages.
 */
export class StreamTransport implements SyslogTransport {
  readonly #address: SyslogAddress
  readonly #tls: SyslogTlsOptions
  #connection: Promise<Socket> | null = null
  #isClosed = false

  constructor(address: SyslogAddress, tls: SyslogTlsOptions) {
    this.#address = address
    this.#tls = tls
  }

  async send(messages: readonly Buffer[]): Promise<void> {
    await written(await this.#connected(), framed(messages))
  }

  close(): void {
    this.#isClosed = true
    // A receiver that does not read must not delay closing.
    this.#connection?.then(
      (socket) => (socket.writableLength > 0 ? socket.destroy() : socket.destroySoon()),
      () => {},
    )
  }

  #connected(): Promise<Socket> {
    if (this.#isClosed) return Promise.reject(new Error('the traffic log is closed'))
    this.#connection ??= this.#connect().catch((error: unknown) => {
      this.#connection = null
      throw error
    })
    return this.#connection
  }

  async #connect(): Promise<Socket> {
    const { host, port, transport } = this.#address
    const socket = transport === 'tls' ? this.#secure() : connectTcp({ host, port })
    await opened(socket, transport === 'tls' ? 'secureConnect' : 'connect')
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    socket.once('close', () => {
      this.#connection = null
    })
    // The end of a connection is only noticed while reading.
    socket.resume()
    return socket
  }

  /** Opens a TLS connection. The files are read each time, so that a renewed certificate needs no restart. */
  #secure(): Socket {
    const { host, port } = this.#address
    const { caFile, certFile, keyFile, insecure } = this.#tls
    const options: ConnectionOptions = { host, port, rejectUnauthorized: !insecure, minVersion: 'TLSv1.2' }
    if (isIP(host) === 0) options.servername = host
    return connectTls({ ...options, ...readTlsFiles({ caFile, certFile, keyFile }) })
  }
}

/** Prefixes each message with its length in bytes and a space. */
function framed(messages: readonly Buffer[]): Buffer {
  return Buffer.concat(messages.flatMap((message) => [Buffer.from(`${message.length} `, 'latin1'), message]))
}

function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => socket.destroy(new Error(`no connection within ${CONNECT_MS} ms`)),
      CONNECT_MS,
    )
    let problem = new Error('the receiver closed the connection')
    socket.on('error', (error) => {
      problem = error
    })
    socket.once('close', () => {
      clearTimeout(timer)
      reject(problem)
    })
    socket.once(event, () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Resolves when the system has accepted the bytes and the connection is still open after `GRACE_MS`. */
function written(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let problem = new Error('the receiver closed the connection')
    const onError = (error: Error): void => {
      problem = error
    }
    const finish = (isDelivered: boolean): void => {
      clearTimeout(timer)
      socket.off('error', onError)
      socket.off('close', onClose)
      if (isDelivered) resolve()
      else reject(problem)
    }
    const onClose = (): void => finish(false)
    let timer = setTimeout(
      () => socket.destroy(new Error(`the receiver accepted no data for ${WRITE_MS} ms`)),
      WRITE_MS,
    )
    socket.on('error', onError)
    socket.once('close', onClose)
    if (socket.destroyed) return finish(false)
    socket.write(bytes, (error) => {
      if (error) return
      clearTimeout(timer)
      timer = setTimeout(() => finish(!socket.destroyed), GRACE_MS)
    })
  })
}
