import net from 'node:net'
import type { TestContext } from 'node:test'

/** A client connection controlled by a test, which decides when it reads, writes and closes. */
export interface RawConnection {
  /** Everything received, as latin1. */
  readonly text: string
  readonly receivedBytes: number
  readonly isClosed: boolean
  send(bytes: string | Buffer): void
  /** Sends each byte in its own segment. */
  sendByteByByte(bytes: string): Promise<void>
  /** Stops reading, so that the receive window fills. */
  pause(): void
  resume(): void
  /** Closes the sending side, and continues to read. */
  halfClose(): void
  /** Closes the connection with a reset. */
  reset(): void
}

/** Opens a connection to a local port, from a local address. It is closed after the test. */
export async function connectRaw(
  t: TestContext,
  port: number,
  localAddress = '127.0.0.1',
): Promise<RawConnection> {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress, noDelay: true, allowHalfOpen: true })
  const chunks: Buffer[] = []
  let receivedBytes = 0
  let isClosed = false
  socket.on('data', (chunk: Buffer) => {
    receivedBytes += chunk.length
    chunks.push(chunk)
  })
  socket.on('error', () => {})
  socket.on('end', () => socket.end())
  socket.on('close', () => (isClosed = true))
  t.after(() => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  return {
    get text() {
      return Buffer.concat(chunks).toString('latin1')
    },
    get receivedBytes() {
      return receivedBytes
    },
    get isClosed() {
      return isClosed
    },
    send: (bytes) => void socket.write(bytes as Buffer),
    async sendByteByByte(bytes) {
      for (const byte of bytes) {
        if (socket.destroyed) return
        socket.write(byte)
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    halfClose: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
  }
}
