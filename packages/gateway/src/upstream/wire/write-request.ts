import type net from 'node:net'
import type { Latin1Buffer } from './response-head.js'

/** A body up to this size goes out in one text with the head, a longer one as a second buffer of the same write. */
const MAX_JOINED_BYTES = 8 * 1024

/** Writes the head of a request with the body that is there already, in one system call. */
export function writeRequest(socket: net.Socket, head: string, body: Uint8Array | null): void {
  if (body === null || body.length === 0) socket.write(head, 'latin1')
  else if (body.length <= MAX_JOINED_BYTES) {
    socket.write(head + bufferOf(body).latin1Slice(0, body.length), 'latin1')
  } else {
    socket.cork()
    socket.write(head, 'latin1')
    socket.write(body)
    socket.uncork()
  }
}

/** What came from the client is a Buffer; what a policy has put in its place may be any bytes. */
function bufferOf(body: Uint8Array): Latin1Buffer {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return bytes as Latin1Buffer
}
