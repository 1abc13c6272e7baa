import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { startGateway, type TestGateway, TIMEOUTS, until } from '../../../testing/gateway.js'
import { type GrpcServer, grpcClient, grpcServer, REPEATS } from './testing/grpc-service.js'

const HTTP2 = { alpn: true, priorKnowledge: true, streams: 100 }

interface Setup {
  readonly server: GrpcServer
  readonly gateway: TestGateway
  // biome-ignore lint/suspicious/noExplicitAny: grpc-js types the methods of a client without a schema so.
  readonly client: any
}

/** A client of grpc-js, the gateway, and a server of grpc-js. */
async function through(t: TestContext): Promise<Setup> {
  const server = await grpcServer(t)
  const gateway = await startGateway(t, {
    listener: { engine: 'node', http2: HTTP2, limits: { bodyBufferBytes: 0 } },
    upstreams: [
      {
        urls: [`http://127.0.0.1:${server.port}`],
        http2: { alpn: false, priorKnowledge: true },
        timeouts: { ...TIMEOUTS, totalMs: 0 },
      },
    ],
  })
  return { server, gateway, client: grpcClient(t, gateway.port) }
}

test('a unary call carries its message, and metadata in both directions', async (t) => {
  const { client } = await through(t)
  const metadata = new Metadata()
  metadata.set('x-asked', 'one')
  let seen: unknown
  const message = await new Promise((resolve, reject) => {
    const call = client.unary(Buffer.from('hello'), metadata, (error: ServiceError | null, value: Buffer) =>
      error === null ? resolve(String(value)) : reject(error),
    )
    call.on('status', (end: { metadata: Metadata }) => (seen = end.metadata.get('x-seen')[0]))
  })
  assert.equal(message, 'hello')
  await until(() => seen === 'one')
})

test('a client streams many messages, and gets one', async (t) => {
  const { client } = await through(t)
  const message = await new Promise<Buffer>((resolve, reject) => {
    const call = client.collect((error: ServiceError | null, value: Buffer) =>
      error === null ? resolve(value) : reject(error),
    )
    for (let i = 0; i < 100; i++) call.write(Buffer.alloc(10_000, i))
    call.end()
  })
  assert.equal(message.length, 1_000_000)
  assert.equal(message[999_999], 99)
})

test('a server streams many messages, which end with its status', async (t) => {
  const { client } = await through(t)
  const call = client.repeat(Buffer.alloc(5000, 'a'))
  let messages = 0
  let code: number | null = null
  call.on('data', () => messages++)
  call.on('status', (end: { code: number }) => (code = end.code))
  await until(() => code !== null)
  assert.deepEqual([messages, code], [REPEATS, status.OK])
})

test('messages pass in both directions while the call is open', async (t) => {
  const { client } = await through(t)
  const call = client.chat()
  const echoed: string[] = []
  call.on('data', (message: Buffer) => echoed.push(String(message)))
  for (const word of ['one', 'two', 'three']) {
    call.write(Buffer.from(word))
    // Each one returns before the next is sent.
    await until(() => echoed.at(-1) === word)
  }
  let code: number | null = null
  call.on('status', (end: { code: number }) => (code = end.code))
  call.end()
  await until(() => code !== null)
  assert.equal(code, status.OK)
})

/** The error of a call. */
function failureOf(start: (done: (error: ServiceError | null) => void) => unknown): Promise<ServiceError> {
  return new Promise((resolve, reject) => {
    start((error) => (error === null ? reject(new Error('it succeeded')) : resolve(error)))
  })
}

test('an error arrives with its code and its text, in a Trailers-Only response', async (t) => {
  const { client } = await through(t)
  const error = await failureOf((done) => client.fail(Buffer.from('x'), done))
  assert.deepEqual([error.code, error.details], [status.FAILED_PRECONDITION, 'no: "ü"'])
})

test('a deadline ends the call on both sides', async (t) => {
  const { client, server, gateway } = await through(t)
  const error = await failureOf((done) => client.hang(Buffer.from('x'), { deadline: Date.now() + 300 }, done))
  assert.equal(error.code, status.DEADLINE_EXCEEDED)
  await until(() => server.hanging() === server.cancelled() && gateway.plane.inFlight === 0)
})

test('a call that its client cancels is cancelled at the server', async (t) => {
  const { client, server, gateway } = await through(t)
  let code: number | null = null
  const call = client.hang(Buffer.from('x'), (error: ServiceError | null) => (code = error?.code ?? 0))
  await until(() => server.hanging() === 1)
  call.cancel()
  await until(() => server.cancelled() === 1 && gateway.plane.inFlight === 0)
  assert.equal(code, status.CANCELLED)
})

test('a hanging call does not affect the others on its connection', async (t) => {
  const { client, server } = await through(t)
  const hanging = client.hang(Buffer.from('x'), () => {})
  await until(() => server.hanging() === 1)
  const answers = await Promise.all(
    Array.from(
      { length: 50 },
      (_, i) =>
        new Promise((resolve, reject) => {
          client.unary(Buffer.from(String(i)), (error: ServiceError | null, value: Buffer) =>
            error === null ? resolve(Number(String(value))) : reject(error),
          )
        }),
    ),
  )
  assert.deepEqual(
    answers,
    Array.from({ length: 50 }, (_, i) => i),
  )
  hanging.cancel()
  await until(() => server.cancelled() === 1)
})
