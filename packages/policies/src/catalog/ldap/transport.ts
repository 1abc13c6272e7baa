import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { MessageReader } from './checked-stream.js'

/** Where a directory is, and how it is spoken to. */
export interface ServerAddress {
  /** As the configuration has it. */
  readonly url: string
  readonly host: string
  readonly port: number
  /** TLS from the beginning, behind StartTLS (RFC 4511, 4.14), or none. */
  readonly security: 'tls' | 'start-tls' | 'none'
}

/** The extended request StartTLS, number 1. */
const START_TLS = Buffer.concat([
  Buffer.from([0x30, 0x1d, 0x02, 0x01, 0x01, 0x77, 0x18, 0x80, 0x16]),
  Buffer.from('1.3.6.1.4.1.1466.20037'),
])
/** The response to it, as checked messages begin: number 1, extended response, success. */
const START_TLS_DONE = /^30(?:[0-7].|84.{8})02010178(?:[0-7].|84.{8})0a0100/

/**
 * A connection that is ready for its first request.
 * @param withinMs longest time for all of it, TLS included.
 * @throws Error that says why there is none.
 */
export async function openTransport(
  { host, port, security }: ServerAddress,
  options: tls.ConnectionOptions,
  withinMs: number,
): Promise<net.Socket> {
  const socket = net.connect({ host, port })
  socket.unref()
  const timer = setTimeout(() => socket.destroy(new Error('no connection in time')), withinMs)
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
  // Where the socket below ends by its own error, this one says nothing.
  const fail = (error?: Error): void => void secure.destroy(error ?? new Error('the connection has ended'))
  socket.once('error', fail)
  socket.once('close', () => fail())
  await once(secure, 'secureConnect')
  return secure
}

/** What stands behind the response in clear could be anybody's, and must not count as said under TLS. */
async function startTls(socket: net.Socket): Promise<void> {
  const reader = new MessageReader()
  socket.write(START_TLS)
  for (;;) {
    const [chunk] = (await Promise.race([once(socket, 'data'), ended(socket)])) as [Buffer]
    const [response, ...more] = reader.take(chunk)
    if (response === undefined) continue
    if (more.length > 0 || reader.rest > 0)
      throw new Error('the directory has sent more before TLS than it may')
    if (!START_TLS_DONE.test(Buffer.from(response).toString('hex')))
      throw new Error('the directory refuses StartTLS')
    return
  }
}

async function ended(socket: net.Socket): Promise<never> {
  await once(socket, 'close')
  throw new Error('the directory has closed the connection')
}
