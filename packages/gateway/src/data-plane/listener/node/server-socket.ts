import net from 'node:net'

/** Who reads a connection. */
export interface SocketReader {
  /** The bytes are valid during the call only. */
  onBytes(bytes: Buffer, length: number): void
}

/** Gets each connection that is accepted, and answers who reads it; null: nobody, it has been closed. */
export type OnSocket = (socket: net.Socket) => SocketReader | null

/**
 * All reads of all connections go here: what is read is used up before the next read begins, or copied by whom it has
 * to wait for.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024)

/** So many bytes wait for a client before it counts as slow. */
const HIGH_WATER_BYTES = 64 * 1024
/** Connections that the system lets wait to be accepted; what `net.Server` asks for. */
const BACKLOG = 511

/** The socket of the system, as Node.js holds it. */
interface Handle {
  setNoDelay(isOn: boolean): void
  readonly writeQueueSize?: number
}

type OnConnection = (error: number, handle: Handle | undefined) => void

/** One that listens. */
export interface ListeningHandle {
  onconnection: OnConnection | null
  /** 0, or a negative error number. */
  listen(backlog: number): number
  close(): void
}

export interface AcceptOptions {
  /** Sockets are read by 'data' events, as it is done where a handle has not the field. Default: false. */
  readonly isDocumented?: boolean
}

/**
 * This is the only place of the engine that relies on what Node.js does not document: which field of a server takes its
 * connections, and how many bytes of a write are left. Everything else of it works without both.
 *
 * A client's socket can be given one buffer for all its reads (`onread`, documented for `net.connect`), a server's cannot:
 * each read would allocate 64 KB and go through a stream. So the server's handle is asked for connections itself.
 * @param server listens.
 */
export function acceptSockets(server: net.Server, onSocket: OnSocket, options: AcceptOptions = {}): void {
  const handle = (server as unknown as { readonly _handle?: ListeningHandle })._handle
  if (options.isDocumented === true || typeof handle?.onconnection !== 'function') {
    server.on('connection', (socket: net.Socket) => readByEvents(socket, onSocket(socket)))
    return
  }
  const byDocument = handle.onconnection
  handle.onconnection = function (error, accepted) {
    // An error is for the server to report.
    if (error !== 0 || accepted === undefined) byDocument.call(this, error, accepted)
    else acceptHandle(accepted, onSocket)
  }
}

/**
 * The same for a socket that no server has.
 * @throws Error when it cannot listen.
 */
export function acceptFrom(handle: ListeningHandle, onSocket: OnSocket, options: AcceptOptions = {}): void {
  handle.onconnection = (error, accepted) => {
    if (error !== 0 || accepted === undefined) return
    if (options.isDocumented !== true) acceptHandle(accepted, onSocket)
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

/** Reads a connection as it is documented. */
export function readByEvents(socket: net.Socket, reader: SocketReader | null): void {
  if (reader !== null) socket.on('data', (bytes: Buffer) => reader.onBytes(bytes, bytes.length))
}

/** Bytes that the system has not taken of what was written. Where nobody knows, those of whole writes that it has not taken. */
export function unsentBytes(socket: net.Socket): number {
  const handle = (socket as unknown as { readonly _handle?: Handle | null })._handle
  return handle?.writeQueueSize ?? socket.writableLength
}
