import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { MessageReader } from './checked-stream.js'

/** Address of a directory server and its transport security. */
export interface ServerAddress {
  /** URL as configured. */
  readonly url: string
  readonly host: string
  readonly port: number
  /** TLS from the start, StartTLS (RFC 4511, 4.14), or none. */
  readonly security: 'tls' | 'start-tls' | 'none'
}

/** StartTLS extended request with message id 1. */
const START_TLS = Buffer.concat([
  Buffer.from([0x30, 0x1d, 0x02, 0x01, 0x01, 0x77, 0x18, 0x80, 0x16]),
  Buffer.from('1.3.6.1.4.1.1466.20037'),
])
/** Successful response to StartTLS in the form of checked messages: id 1, extended response, success. */
const START_TLS_DONE = /^30(?:[0-7].|84.{8})02010178(?:[0-7].|84.{8})0a0100/

/**
 * Opens a connection that is ready for its first request.
 * @param withinMs timeout including TLS, in milliseconds.
 * @throws Error that gives the reason if it fails.
 */
export async function openTransport(
  { host, port, security }: ServerAddress,
  options: tls.ConnectionOptions,
  withinMs: number,
): Promise<net.Socket> {
  const socket = net.connect({ host, port })
  socket.unref()
  const timer = setTimeout(() => socket.destroy(new Error('connection timeout')), withinMs)
  try {
    await once(socket, 'connect')
    socket.setNoDelay(true)
    if (security === 'none') return socket
    if (security === 'start-tls') await startTls(socket)
    return await secured(socket, { host, ...options })
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

async function secured(socket: net.Socket, options: tls.ConnectionOptions): Promise<net.Socket> {
  const { host = '' } = options
  const name = net.isIP(host) === 0 ? { servername: host } : {}
  const secure = tls.connect({ ...name, ...options, socket })
  // If the socket below fails with an error, the TLS socket does not report it.
  const fail = (error?: Error): void => void secure.destroy(error ?? new Error('the connection was closed'))
  socket.once('error', fail)
  socket.once('close', () => fail())
  await once(secure, 'secureConnect')
  return secure
}

/**
 * Negotiates StartTLS. Data received in cleartext after the response could come from an attacker and must not
 * count as received over TLS.
 */
async function startTls(socket: net.Socket): Promise<void> {
  const reader = new MessageReader()
  socket.write(START_TLS)
  for (;;) {
    const [chunk] = (await Promise.race([once(socket, 'data'), ended(socket)])) as [Buffer]
    const [response, ...more] = reader.take(chunk)
    if (response === undefined) continue
    if (more.length > 0 || reader.rest > 0) throw new Error('the directory sent unexpected data before TLS')
    if (!START_TLS_DONE.test(Buffer.from(response).toString('hex')))
      throw new Error('the directory refused StartTLS')
    return
  }
}

async function ended(socket: net.Socket): Promise<never> {
  await once(socket, 'close')
  throw new Error('the directory closed the connection')
}
