import type net from 'node:net'
import { latin1Of, MAX_TEXT_BYTES } from './latin1.js'

/** Size for one read from an upstream plus a head. */
const SCRATCH_BYTES = 96 * 1024

/** Buffer for joining larger writes. It is replaced if its bytes have to wait. */
let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)

/**
 * Writes Latin-1 text, bytes and more text in one system call. The bytes are copied. Returns false if the client has
 * not accepted everything; a 'drain' event follows.
 */
export function writeTogether(
  socket: net.Socket,
  before: string,
  bytes: Uint8Array | null,
  after: string,
): boolean {
  if (bytes === null) socket.write(before + after, 'latin1')
  else if (bytes.length <= MAX_TEXT_BYTES) socket.write(before + latin1Of(bytes) + after, 'latin1')
  else writeLarge(socket, before, bytes, after)
  return !socket.writableNeedDrain || socket.writableLength === 0
}

function writeLarge(socket: net.Socket, before: string, bytes: Uint8Array, after: string): void {
  const size = before.length + bytes.length + after.length
  const isScratch = size <= SCRATCH_BYTES
  const whole = isScratch ? scratch : Buffer.allocUnsafeSlow(size)
  whole.write(before, 0, 'latin1')
  whole.set(bytes, before.length)
  whole.write(after, before.length + bytes.length, 'latin1')
  socket.write(whole.subarray(0, size))
  if (isScratch && socket.writableLength > 0) scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
}
