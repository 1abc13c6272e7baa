import type net from 'node:net'
import type { Latin1Buffer } from './response-head.js'

/** A body up to this size goes out in one text with the head, a longer one as a second buffer of the same write. */
const MAX_JOINED_BYTES = 8 * 1024

/** Writes the head of a request with the body that is there already, in one system call. */
export function writeRequest(socket: net.Socket, head: string, body: Buffer | null): void {
  if (body === null || body.length === 0) socket.write(head, 'latin1')
  else if (body.length <= MAX_JOINED_BYTES) {
    socket.write(head + (body as Latin1Buffer).latin1Slice(0, body.length), 'latin1')
  } else {
    socket.cork()
    socket.write(head, 'latin1')
    socket.write(body)
    socket.uncork()
  }
}
