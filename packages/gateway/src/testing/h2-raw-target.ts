import net, { type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { FRAME, HEAD_BYTES, PREFACE } from '../protocol/http2/frames.js'

export interface RawFrame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** A target that sends arbitrary frames and records the received ones, of all connections. */
export interface RawTarget {
  readonly port: number
  readonly frames: RawFrame[]
  readonly sockets: readonly Socket[]
  /** Number of connections that the gateway has closed. */
  closed(): number
  /** Error code of the last GOAWAY, or null if there was none. */
  goaway(): number | null
  /** Returns the error code of the RST_STREAM for a stream, or null if there was none. */
  resetOf(stream: number): number | null
  /** Returns the DATA bytes received on a stream. */
  dataOf(stream: number): Buffer
}

export function rawFrame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Returns a payload of four-byte numbers. */
export function numbers(...values: readonly number[]): Buffer {
  const payload = Buffer.alloc(4 * values.length)
  for (let i = 0; i < values.length; i++) payload.writeUInt32BE(values[i]!, 4 * i)
  return payload
}

/** Returns a SETTINGS frame. */
export function settingsFrame(...values: readonly number[]): Buffer {
  const payload = Buffer.alloc(3 * values.length)
  for (let i = 0; i < values.length; i += 2) {
    payload.writeUInt16BE(values[i]!, 3 * i)
    payload.writeUInt32BE(values[i + 1]!, 3 * i + 2)
  }
  return rawFrame(FRAME.settings, 0, 0, payload)
}

/** Encodes fields as literals. Lengths must be below 127. */
export function fieldBlock(...fields: readonly string[]): Buffer {
  const literal = (text: string): Buffer => Buffer.from(String.fromCharCode(text.length) + text, 'latin1')
  const parts: Buffer[] = []
  for (let i = 0; i < fields.length; i += 2)
    parts.push(Buffer.from([0]), literal(fields[i]!), literal(fields[i + 1]!))
  return Buffer.concat(parts)
}

/**
 * Starts a target.
 * @param onFrame called with each frame except those of the connection itself.
 * @param first first bytes of each connection.
 */
export async function rawTarget(
  t: TestContext,
  onFrame: (socket: Socket, frame: RawFrame) => void = () => {},
  first: Buffer = settingsFrame(),
): Promise<RawTarget> {
  const frames: RawFrame[] = []
  const sockets: Socket[] = []
  let closed = 0
  const server = net.createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('close', () => closed++)
    socket.write(first)
    let pending: Buffer = Buffer.alloc(0)
    let at = PREFACE.length
    socket.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= at + HEAD_BYTES) {
        const end = at + HEAD_BYTES + pending.readUIntBE(at, 3)
        if (pending.length < end) break
        const payload = pending.subarray(at + HEAD_BYTES, end)
        const frame = {
          type: pending[at + 3]!,
          flags: pending[at + 4]!,
          stream: pending.readUInt32BE(at + 5),
          payload,
        }
        pending = pending.subarray(end)
        at = 0
        frames.push(frame)
        if (frame.stream !== 0) onFrame(socket, frame)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const last = (type: number, stream: number): Buffer | undefined =>
    frames.findLast((frame) => frame.type === type && frame.stream === stream)?.payload
  return {
    port: (server.address() as AddressInfo).port,
    frames,
    sockets,
    closed: () => closed,
    goaway: () => last(FRAME.goaway, 0)?.readUInt32BE(4) ?? null,
    resetOf: (stream) => last(FRAME.reset, stream)?.readUInt32BE(0) ?? null,
    dataOf: (stream) =>
      Buffer.concat(
        frames
          .filter((frame) => frame.type === FRAME.data && frame.stream === stream)
          .map(({ payload }) => payload),
      ),
  }
}
