import net from 'node:net'
import type { TestContext } from 'node:test'
import { until } from '../../../../testing/gateway.js'

/** Frame types (RFC 9113 section 6). */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const END_STREAM = 1
export const END_HEADERS = 4
const ACK = 1

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** A client that sends arbitrary frames and records the received ones. */
export interface RawHttp2Client {
  readonly frames: readonly Frame[]
  readonly isClosed: boolean
  /** Error code of the last GOAWAY, or null if there was none. */
  readonly goaway: number | null
  /** Returns the error code of a stream's RST_STREAM, or null if there was none. */
  resetOf(stream: number): number | null
  send(...frames: Buffer[]): void
  /** Stops reading. */
  pause(): void
  /** Closes the sending side. */
  halfClose(): void
}

export interface RawHttp2Options {
  /** SETTINGS frame to begin with. */
  readonly settings?: Buffer
  /** True to send the preface byte by byte. */
  readonly isSlow?: boolean
  /** Bytes sent before the preface, as by a proxy. */
  readonly before?: string
  /** True to keep the connection open when the server closes it. */
  readonly staysOpen?: boolean
}

/** Connects and exchanges SETTINGS. */
export async function connectHttp2(
  t: TestContext,
  port: number,
  {
    settings = frame(FRAME.settings, 0, 0),
    before = '',
    isSlow = false,
    staysOpen = false,
  }: RawHttp2Options = {},
): Promise<RawHttp2Client> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  const frames: Frame[] = []
  let pending: Buffer = Buffer.alloc(0)
  let isClosed = false
  const begun = isSlow ? sendSlowly(socket, PREFACE) : Promise.resolve(socket.write(before + PREFACE))
  void begun.then(() => socket.write(settings))
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    while (pending.length >= 9 && pending.length >= 9 + pending.readUIntBE(0, 3)) {
      const length = pending.readUIntBE(0, 3)
      const [type, flags, stream] = [pending[3]!, pending[4]!, pending.readUInt32BE(5)]
      frames.push({ type, flags, stream, payload: pending.subarray(9, 9 + length) })
      pending = pending.subarray(9 + length)
      if (type === FRAME.settings && flags === 0)
        void begun.then(() => socket.write(frame(FRAME.settings, ACK, 0)))
    }
  })
  socket.on('error', () => {})
  if (!staysOpen) socket.on('end', () => socket.end())
  socket.on('close', () => (isClosed = true))
  t.after(() => socket.destroy())
  await until(() => frames.some(({ type, flags }) => type === FRAME.settings && flags === ACK))
  return {
    frames,
    get isClosed() {
      return isClosed
    },
    get goaway() {
      return frames.findLast(({ type }) => type === FRAME.goaway)?.payload.readUInt32BE(4) ?? null
    },
    resetOf: (stream) =>
      frames.find((each) => each.type === FRAME.reset && each.stream === stream)?.payload.readUInt32BE(0) ??
      null,
    send: (...each) => void socket.write(Buffer.concat(each)),
    pause: () => void socket.pause(),
    halfClose: () => void socket.end(),
  }
}

async function sendSlowly(socket: net.Socket, text: string): Promise<void> {
  for (const byte of text) {
    socket.write(byte)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Encodes fields as literals without indexing or Huffman coding (RFC 7541 section 6.2.2). */
export function block(fields: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([name, value]): Buffer[] => [Buffer.from([0]), text(name), text(value)]),
  )
}

function text(value: string): Buffer {
  const bytes: Buffer = Buffer.from(value, 'latin1')
  return Buffer.concat([length(bytes.length), bytes])
}

/** Encodes an integer with a 7-bit prefix (RFC 7541 section 5.1). */
function length(value: number): Buffer {
  if (value < 127) return Buffer.from([value])
  const bytes = [127]
  let left = value - 127
  for (; left >= 128; left >>= 7) bytes.push((left & 127) | 128)
  return Buffer.from([...bytes, left])
}

export const GET: readonly (readonly [string, string])[] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/a'],
  [':authority', 'a'],
]

/** Returns the fields of a request with some of them changed. */
export function fieldsOf(changed: Readonly<Record<string, string>>): [string, string][] {
  const known = GET.map(([name, value]): [string, string] => [name, changed[name] ?? value])
  const more = Object.entries(changed).filter(([name]) => !GET.some(([other]) => other === name))
  return [...known, ...more]
}

/** Encodes a complete request without a body. */
export function request(stream: number, fields: readonly (readonly [string, string])[] = GET): Buffer {
  return frame(FRAME.headers, END_STREAM | END_HEADERS, stream, block(fields))
}

/** Encodes the head of a request with a body. */
export function opening(stream: number, fields: readonly (readonly [string, string])[] = GET): Buffer {
  return frame(FRAME.headers, END_HEADERS, stream, block(fields))
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
