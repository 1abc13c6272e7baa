import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import net, { type AddressInfo, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import tls, { type TlsOptions } from 'node:tls'
import { makeCertificates } from '../../testing/make-certificates.js'
import { OctetCounting, parseSyslog, type SyslogMessage } from './syslog-parser.js'

/** A syslog server for tests. */
export interface SyslogReceiver {
  readonly port: number
  readonly messages: SyslogMessage[]
  /** Errors for data that is not valid syslog. */
  readonly faults: string[]
  /** Returns the number of connections so far. */
  readonly connections: () => number
  /** Stops the server and cuts its connections. */
  stop(): Promise<void>
}

/** Starts a UDP receiver. */
export async function udpReceiver(t: TestContext, port = 0): Promise<SyslogReceiver> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 ** 2 })
  const { messages, faults, take } = collection()
  socket.on('message', take)
  socket.bind(port, '127.0.0.1')
  await once(socket, 'listening')
  let stopped: Promise<void> | null = null
  const stop = (): Promise<void> => {
    stopped ??= new Promise<void>((resolve) => socket.close(() => resolve()))
    return stopped
  }
  t.after(stop)
  return { port: socket.address().port, messages, faults, connections: () => 0, stop }
}

/** Starts a TCP receiver with octet counting. `onSocket` can disturb connections. */
export function tcpReceiver(
  t: TestContext,
  port = 0,
  onSocket: (socket: Socket) => void = () => {},
): Promise<SyslogReceiver> {
  return streamReceiver(t, net.createServer(), { port, event: 'connection', onSocket })
}

/** Starts a TLS receiver with a certificate from a new test authority. */
export async function tlsReceiver(
  t: TestContext,
  dir: string,
  options: TlsOptions = {},
): Promise<SyslogReceiver & { readonly caFile: string }> {
  const caFile = makeCertificates(dir)
  const location = dirname(caFile)
  const server = tls.createServer({
    key: readFileSync(join(location, 'node.key')),
    cert: readFileSync(join(location, 'node.pem')),
    ...options,
  })
  server.on('tlsClientError', () => {})
  const receiver = await streamReceiver(t, server, { port: 0, event: 'secureConnection', onSocket: () => {} })
  return { ...receiver, caFile }
}

interface StreamOptions {
  readonly port: number
  readonly event: string
  readonly onSocket: (socket: Socket) => void
}

async function streamReceiver(
  t: TestContext,
  server: net.Server,
  { port, event, onSocket }: StreamOptions,
): Promise<SyslogReceiver> {
  const { messages, faults, take } = collection()
  const sockets = new Set<Socket>()
  let connections = 0
  server.on(event, (socket: Socket) => {
    connections++
    sockets.add(socket)
    const counting = new OctetCounting()
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const message of counting.take(chunk)) take(message)
      } catch (error) {
        faults.push(String(error))
      }
    })
    onSocket(socket)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const stop = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  t.after(stop)
  return {
    port: (server.address() as AddressInfo).port,
    messages,
    faults,
    connections: () => connections,
    stop,
  }
}

function collection(): {
  messages: SyslogMessage[]
  faults: string[]
  take: (message: Buffer) => void
} {
  const messages: SyslogMessage[] = []
  const faults: string[] = []
  const take = (message: Buffer): void => {
    try {
      messages.push(parseSyslog(message))
    } catch (error) {
      faults.push(String(error))
    }
  }
  return { messages, faults, take }
}
