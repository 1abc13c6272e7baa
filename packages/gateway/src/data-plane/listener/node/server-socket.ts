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

/** The socket of the system, as Node.js holds it. */
interface Handle {
  setNoDelay(isOn: boolean): void
  readonly writeQueueSize?: number
}

interface ListeningHandle {
  onconnection: ((error: number, handle: Handle | undefined) => void) | null
}

/**
 * This is the only place of the engine that relies on what Node.js does not document: which field of a server takes its
 * connections, and how many bytes of a write are left. Everything else of it works without both.
 *
 * A client's socket can be given one buffer for all its reads (`onread`, documented for `net.connect`), a server's cannot:
 * each read would allocate 64 KB and go through a stream. So the server's handle is asked for connections itself.
 * @param server listens.
 * @param isDocumented reads by 'data' events, as it is done where the handle has not the field.
 */
export function acceptSockets(server: net.Server, onSocket: OnSocket, isDocumented = false): void {
  const handle = (server as unknown as { readonly _handle?: ListeningHandle })._handle
  if (isDocumented || typeof handle?.onconnection !== 'function') {
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
