import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { Server as TlsServer } from 'node:tls'

/** A server that answers greetings, and everything else as the test says. */
export interface FakeNode {
  readonly port: number
  /** Commands received, without greetings. */
  readonly commands: string[][]
}

/** Returns the answer to a command in protocol bytes, or null for no answer. */
export type FakeAnswer = (command: readonly string[], port: number) => string | null

/**
 * Starts a fake node.
 * @param server TCP server; defaults to one without TLS.
 */
export async function startFakeNode(
  t: TestContext,
  answer: FakeAnswer,
  server: Server = createServer(),
): Promise<FakeNode> {
  const commands: string[][] = []
  const sockets = new Set<Socket>()
  const { port } = await new Promise<AddressInfo>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(server.address() as AddressInfo)),
  )
  server.on('tlsClientError', () => {})
  const arrival = server instanceof TlsServer ? 'secureConnection' : 'connection'
  server.on(arrival, (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (data: Buffer) => {
      for (const command of commandsIn(data.toString('latin1'))) {
        const isGreeting = ['CLIENT', 'HELLO', 'AUTH', 'SELECT'].includes(command[0]!)
        if (!isGreeting) commands.push(command)
        const bytes = isGreeting ? '+OK\r\n' : answer(command, port)
        if (bytes !== null) socket.write(bytes)
      }
    })
  })
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port, commands }
}

/** Parses the commands in a chunk from a client. */
function* commandsIn(text: string): Generator<string[]> {
  const lines = text.split('\r\n')
  for (let at = 0; lines[at]?.startsWith('*') === true; ) {
    const count = Number(lines[at]!.slice(1))
    yield Array.from({ length: count }, (_, i) => lines[at + 2 + 2 * i]!)
    at += 1 + 2 * count
  }
}

/** Builds the answer to CLUSTER SLOTS: ranges with their host and port. */
export function layoutOf(
  ranges: readonly (readonly [from: number, to: number, host: string, port: number])[],
): string {
  const entries = ranges.map(
    ([from, to, host, port]) =>
      `*3\r\n:${from}\r\n:${to}\r\n*3\r\n$${host.length}\r\n${host}\r\n:${port}\r\n$2\r\nid\r\n`,
  )
  return `*${ranges.length}\r\n${entries.join('')}`
}
