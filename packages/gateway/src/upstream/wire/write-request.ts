import type net from 'node:net'
import { latin1Of, MAX_TEXT_BYTES } from '../latin1.js'

/** Writes the head of a request with the body that is there already, in one system call. */
export function writeRequest(socket: net.Socket, head: string, body: Buffer | string | null): void {
  if (body === null || body.length === 0) socket.write(head, 'latin1')
  else if (typeof body === 'string') socket.write(head + body, 'latin1')
  else if (body.length <= MAX_TEXT_BYTES) socket.write(head + latin1Of(body), 'latin1')
  else {
    socket.cork()
    socket.write(head, 'latin1')
    socket.write(body)
    socket.uncork()
  }
}
