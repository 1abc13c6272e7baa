import assert from 'node:assert/strict'
import net, { type AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type ClientAnswer, ClientConnection } from './client-connection.js'

const REQUEST = 'GET / HTTP/1.1\r\nHost: bench\r\n\r\n'
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** One connection, the server's end of it, and what was heard of it; each answer resolves one `answered`. */
class Line {
  readonly heard: string[] = []
  readonly answers: ClientAnswer[] = []
  readonly closed: Promise<ClientConnection>
  readonly connection: ClientConnection
  readonly #server: Promise<net.Socket>
  #reported: () => void = () => {}

  private constructor(port: number, server: Promise<net.Socket>) {
    this.#server = server
    let close: (connection: ClientConnection) => void
    this.closed = new Promise((resolve) => {
      close = resolve
    })
    this.connection = new ClientConnection(port, {
      free: () => this.#hear('free'),
      answered: (_, answer) => {
        this.answers.push(answer)
        this.#hear('answered')
      },
      unasked: () => this.#hear('unasked'),
      left: () => this.#hear('left'),
      closed: (connection) => {
        this.#hear('closed')
        close(connection)
      },
    })
  }

  static async open(t: TestContext): Promise<Line> {
    const server = net.createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const accepted = new Promise<net.Socket>((resolve) => server.once('connection', resolve))
    t.after(async () => void (await accepted).destroy())
    t.after(() => server.close())
    const line = new Line((server.address() as AddressInfo).port, accepted)
    await line.connection.ready
    return line
  }

  get server(): Promise<net.Socket> {
    return this.#server
  }

  /** Sends a request, and answers it with these bytes; resolves when something more was heard. */
  async exchange(bytes: string): Promise<void> {
    const server = await this.#server
    server.once('data', () => server.write(bytes))
    const reported = new Promise<void>((resolve) => {
      this.#reported = resolve
    })
    this.connection.send(REQUEST, performance.now(), false)
    await reported
  }

  #hear(what: string): void {
    this.heard.push(what)
    this.#reported()
  }
}

test('an answer has a status and a body, and the connection is free again', async (t) => {
  const line = await Line.open(t)
  await line.exchange(ANSWER)
  assert.deepEqual([line.answers[0]!.status, line.answers[0]!.body], [200, 'ok'])
  assert.deepEqual(line.heard, ['free', 'answered', 'free'])
})

test('a request on a kept connection that ends without a byte of an answer may be sent again, and no other', async (t) => {
  const line = await Line.open(t)
  await line.exchange(ANSWER)
  const server = await line.server
  server.once('data', () => server.destroy())
  line.connection.send(REQUEST, performance.now(), false)
  assert.equal((await line.closed).maySendAgain, true)
  const young = await Line.open(t)
  const other = await young.server
  other.once('data', () => other.destroy())
  young.connection.send(REQUEST, performance.now(), false)
  assert.equal((await young.closed).maySendAgain, false)
})

test('a connection that the server ends while nothing is under way is left', async (t) => {
  const line = await Line.open(t)
  await line.exchange(ANSWER)
  const server = await line.server
  server.end()
  await line.closed
  assert.deepEqual(line.heard.slice(3), ['left', 'closed'])
})

test('a second answer is unasked, after the first one or later, and the connection is not used any more', async (t) => {
  const together = await Line.open(t)
  await together.exchange(ANSWER + ANSWER)
  await together.closed
  assert.deepEqual(together.heard, ['free', 'unasked', 'answered', 'closed'])
  const later = await Line.open(t)
  await later.exchange(ANSWER)
  const server = await later.server
  server.write(ANSWER)
  await later.closed
  assert.deepEqual(later.heard, ['free', 'answered', 'free', 'unasked', 'left', 'closed'])
})
