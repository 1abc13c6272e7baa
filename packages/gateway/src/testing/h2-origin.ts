import dns from 'node:dns'
import http2 from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { FAKE_CERTIFICATES } from '../admin/testing/test-certificate.js'
import { CachedClock } from '../lib/cached-clock.js'
import { H2Transport, type H2TransportOptions } from '../upstream/http2/h2-transport.js'

export type OnStream = (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void

export interface H2Origin {
  readonly port: number
  readonly sessions: http2.ServerHttp2Session[]
  /** Sockets of the connections, in order. */
  readonly sockets: net.Socket[]
}

/** Starts an HTTP/2 server without TLS. */
export async function h2Origin(
  t: TestContext,
  onStream: OnStream,
  options: http2.ServerOptions = {},
): Promise<H2Origin> {
  const server = http2.createServer(options)
  return { port: await listen(t, server, onStream), sessions: sessionsOf(server), sockets: socketsOf(server) }
}

export async function secureH2Origin(t: TestContext, onStream: OnStream): Promise<H2Origin> {
  const server = http2.createSecureServer({ ...FAKE_CERTIFICATES.localhost })
  return { port: await listen(t, server, onStream), sessions: sessionsOf(server), sockets: socketsOf(server) }
}

function sessionsOf(server: http2.Http2Server | http2.Http2SecureServer): http2.ServerHttp2Session[] {
  const sessions: http2.ServerHttp2Session[] = []
  server.on('session', (session) => sessions.push(session))
  return sessions
}

function socketsOf(server: http2.Http2Server | http2.Http2SecureServer): net.Socket[] {
  const sockets: net.Socket[] = []
  server.on('connection', (socket: net.Socket) => sockets.push(socket))
  return sockets
}

async function listen(
  t: TestContext,
  server: http2.Http2Server | http2.Http2SecureServer,
  onStream: OnStream,
): Promise<number> {
  const sockets = socketsOf(server)
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    onStream(stream, headers)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export function optionsTo(port: number, isSecure: boolean): Omit<H2TransportOptions, 'fallback'> {
  const tls = {
    ca: FAKE_CERTIFICATES.localhost.cert,
    cert: null,
    key: null,
    servername: 'localhost',
    minVersion: 'TLSv1.2' as const,
    pins: [],
    isInsecure: false,
  }
  return {
    origin: `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}`,
    host: '127.0.0.1',
    port,
    tls: isSecure ? tls : null,
    lookup: dns.lookup as net.LookupFunction,
    connections: 2,
    keepAliveMs: 60_000,
    pendingTimeoutMs: 60_000,
    maxHeaderBytes: 16_384,
    maxConnectionAgeMs: 600_000,
    clock: new CachedClock(),
  }
}

/** Creates a transport with HTTP/2 prior knowledge to a local port. */
export function h2To(t: TestContext, port: number, overrides: Partial<H2TransportOptions> = {}): H2Transport {
  const transport = new H2Transport({ ...optionsTo(port, false), fallback: null, ...overrides })
  t.after(() => void transport.close())
  return transport
}

export const echoPath: OnStream = (stream, headers) => {
  stream.respond({ ':status': 200 })
  stream.end(headers[':path'])
}

/** Starts a server that answers the first stream of a connection with the given frames. */
export async function framesOrigin(t: TestContext, ...frames: readonly Buffer[]): Promise<number> {
  const sockets: net.Socket[] = []
  const server = net.createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.write(frame(SETTINGS, 0, 0))
    let received = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      const before = hasHeaders(received)
      received = Buffer.concat([received, chunk])
      if (!before && hasHeaders(received)) for (const each of frames) socket.write(each)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Frame types (RFC 9113 section 6). */
export const [DATA, HEADERS, RST_STREAM, SETTINGS] = [0, 1, 3, 4]
export const END_HEADERS = 4
const PREFACE_BYTES = 24
/** `:status: 200` from HPACK's static table. */
export const STATUS_200 = Buffer.from([0x88])

export function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream])
  return Buffer.concat([head, payload])
}

function hasHeaders(bytes: Buffer): boolean {
  for (let at = PREFACE_BYTES; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3))
    if (bytes[at + 3] === HEADERS) return true
  return false
}
