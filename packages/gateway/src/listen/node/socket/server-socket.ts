import net from 'node:net'

/** Reader of a connection. */
export interface SocketReader {
  /** Called with received bytes, which are valid only during the call. */
  onBytes(bytes: Buffer, length: number): void
}

/** Called with each accepted connection. Returns its reader, or null if the connection was closed or handed over. */
export type OnSocket = (socket: net.Socket) => SocketReader | null

/** Buffer for all reads of all connections. Bytes must be processed or copied before the next read. */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024)

/** Pending bytes from which a client counts as slow. */
const HIGH_WATER_BYTES = 64 * 1024
/** Length of the kernel's accept queue, as in `net.Server`. */
const BACKLOG = 511

/** Socket handle of Node.js. */
interface Handle {
  setNoDelay(isOn: boolean): void
  readonly writeQueueSize?: number
}

type OnConnection = (error: number, handle: Handle | undefined) => void

/** A listening socket handle. */
export interface ListeningHandle {
  onconnection: OnConnection | null
  /** Starts listening. Returns 0 or a negative error number. */
  listen(backlog: number): number
  close(): void
}

/** Options for accepting connections. */
export interface AcceptOptions {
  /** True to read sockets through 'data' events, as without the internal fields. Default: false. */
  readonly usesDataEvents?: boolean
}

/**
 * Takes the connections of a server. This is the only place in the engine that uses undocumented parts of Node.js:
 * the `onconnection` field of a server handle, and the number of unsent bytes. Everything works without them too.
 *
 * A client socket can use one buffer for all its reads (`onread`, documented for `net.connect`), but a server's sockets
 * cannot: each read would allocate 64 KB and pass through a stream. So connections are taken from the server's handle.
 * @param server a listening server.
 * @returns a function that sets the receiver of new connections. It may be called again.
 */
export function acceptorOf(server: net.Server): (onSocket: OnSocket, options?: AcceptOptions) => void {
  const handle = (server as unknown as { readonly _handle?: ListeningHandle })._handle
  const originalHandler = handle?.onconnection
  return (onSocket, options = {}) => {
    server.removeAllListeners('connection')
    server.on('connection', (socket: net.Socket) => readByEvents(socket, onSocket(socket)))
    if (handle === undefined || typeof originalHandler !== 'function') return
    handle.onconnection = function (error, accepted) {
      // The server reports errors.
      if (options.usesDataEvents === true || error !== 0 || accepted === undefined)
        originalHandler.call(this, error, accepted)
      else acceptHandle(accepted, onSocket)
    }
  }
}

/**
 * Accepts the connections of a handle that belongs to no server.
 * @throws Error if the handle cannot listen.
 */
export function acceptFrom(handle: ListeningHandle, onSocket: OnSocket, options: AcceptOptions = {}): void {
  handle.onconnection = (error, accepted) => {
    if (error !== 0 || accepted === undefined) return
    if (options.usesDataEvents !== true) acceptHandle(accepted, onSocket)
    else {
      const socket = new net.Socket({ handle: accepted, allowHalfOpen: true } as net.SocketConstructorOpts)
      accepted.setNoDelay(true)
      readByEvents(socket, onSocket(socket))
    }
  }
  const problem = handle.listen(BACKLOG)
  if (problem !== 0) throw new Error(`the socket cannot listen (error ${problem})`)
}

function acceptHandle(handle: Handle, onSocket: OnSocket): void {
  let reader: SocketReader | null = null
  const socket = new net.Socket({
    handle,
    allowHalfOpen: true,
    writableHighWaterMark: HIGH_WATER_BYTES,
    manualStart: true,
    onread: {
      buffer: READ_BUFFER,
      callback(length: number): boolean {
        reader?.onBytes(READ_BUFFER, length)
        return true
      },
    },
  } as net.SocketConstructorOpts)
  handle.setNoDelay(true)
  reader = onSocket(socket)
  if (reader !== null) socket.resume()
}

/** Reads a connection through the documented 'data' events. */
export function readByEvents(socket: net.Socket, reader: SocketReader | null): void {
  if (reader !== null) socket.on('data', (bytes: Buffer) => reader.onBytes(bytes, bytes.length))
}

/**
 * Returns the number of written bytes that the kernel has not accepted. If unknown, counts only whole unsent writes.
 */
export function unsentBytes(socket: net.Socket): number {
  const handle = (socket as unknown as { readonly _handle?: Handle | null })._handle
  return handle?.writeQueueSize ?? socket.writableLength
}
