import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, LookupFunction } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { HttpCallFailed, type HttpClient, type HttpClientOptions, headerValue } from '@sluice/core'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import { type Closer, SharedTable } from '../../lib/shared-table.js'
import { Metrics } from '../../telemetry/metrics.js'
import { until } from '../../testing/gateway.js'
import { closedPort, httpOrigin, rawOrigin } from '../../testing/origin.js'
import { systemNetwork } from '../transport/network.js'
import { createHttpClient } from './http-clients.js'
import { OutboundPool } from './outbound-pool.js'

/** Dependencies of clients in a worker. */
function worker(t: TestContext, lookup?: LookupFunction) {
  const shared = new SharedTable((value) => void (value as OutboundPool).close())
  const closers: Closer[] = []
  const metrics = new Metrics()
  const count = metrics.counter.bind(metrics)
  t.after(() => shared.clear())
  return {
    shared,
    client: (options: HttpClientOptions): HttpClient =>
      createHttpClient(options, {
        shared,
        closers,
        network: { ...systemNetwork(), ...(lookup && { lookup }) },
        count,
      }),
    results: () => {
      const sums: Record<string, number> = {}
      for (const { labels, value } of metrics.samples()) {
        const result = /result="(\w+)"/.exec(labels)![1]!
        sums[result] = (sums[result] ?? 0) + value
      }
      return sums
    },
  }
}

const failure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => assert.fail('it was answered'),
    (error: unknown) => (error instanceof HttpCallFailed ? error.failure : String(error)),
  )

const rawServer = async (...args: Parameters<typeof rawOrigin>): Promise<string> =>
  (await rawOrigin(...args)).url

const get = { method: 'GET', path: '/' } as const

test('a call is answered with status, fields and body, and no redirect is followed', async (t) => {
  const origin = await httpOrigin(t, async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    res.writeHead(302, { location: '/elsewhere', 'x-seen': `${req.method} ${req.url} ${req.headers['x-a']}` })
    res.end(Buffer.concat(chunks))
  })
  const { client, results } = worker(t)
  const call = { method: 'PUT', path: '/a?b=%20', headers: ['x-a', '1'], body: Buffer.from('body') }
  const answer = await client({ origin: origin.url }).call(call)
  assert.deepEqual([answer.status, Buffer.from(answer.body).toString()], [302, 'body'])
  assert.equal(headerValue(answer.headers, 'x-seen'), 'PUT /a?b=%20 1')
  assert.deepEqual(results(), { answered: 1 })
})

test('timeouts and unreachable servers end with their own kind of failure', async (t) => {
  const { client, results } = worker(t)
  const silent = await rawServer(t, () => {})
  assert.equal(await failure(client({ origin: silent, headersMs: 20 }).call(get)), 'timeout')
  const slow = await rawServer(t, (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx'))
  assert.equal(await failure(client({ origin: slow, totalMs: 50 }).call(get)), 'timeout')
  const closed = `http://127.0.0.1:${await closedPort()}`
  assert.equal(await failure(client({ origin: closed }).call(get)), 'unreachable')
  const garbage = await rawServer(t, (socket) => socket.end('what do you want?\r\n\r\n'))
  assert.equal(await failure(client({ origin: garbage }).call(get)), 'invalid')
  const cut = await rawServer(t, (socket) => socket.once('data', () => socket.destroy()))
  assert.equal(await failure(client({ origin: cut }).call(get)), 'broken')
  assert.deepEqual(results(), { timeout: 2, unreachable: 1, invalid: 1, broken: 1 })
})

test('a response that is too large ends the call, with or without Content-Length', async (t) => {
  const { client } = worker(t)
  const announced = await rawServer(t, (socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 101\r\n\r\n'),
  )
  assert.equal(await failure(client({ origin: announced, maxResponseBytes: 100 }).call(get)), 'tooLarge')
  let sent = 0
  const endless = await rawServer(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    const pump = (): void => {
      while (!socket.destroyed && socket.write(`400\r\n${'x'.repeat(1024)}\r\n`)) sent += 1024
    }
    socket.on('drain', pump).once('data', pump)
  })
  assert.equal(await failure(client({ origin: endless, maxResponseBytes: 100_000 }).call(get)), 'tooLarge')
  assert.ok(sent > 0)
})

test('connections and their queue are bounded; waiting calls get freed connections', async (t) => {
  const waiting: ServerResponse[] = []
  const origin = await httpOrigin(t, (_, res) => void waiting.push(res))
  const caller = worker(t).client({ origin: origin.url, connections: 2, maxPending: 1 })
  const calls = [caller.call(get), caller.call(get), caller.call(get)]
  assert.equal(await failure(caller.call(get)), 'busy')
  for (let answered = 0; answered < 3; answered++) {
    await until(() => waiting.length > 0)
    waiting.shift()!.end()
  }
  await Promise.all(calls)
  assert.equal(waiting.length, 0)
})

test('identical calls are coalesced; calls with another body are not', async (t) => {
  const waiting: (() => void)[] = []
  const origin = await httpOrigin(t, (_, res) => {
    const n = waiting.length
    waiting.push(() => res.end(String(n)))
  })
  const caller = worker(t).client({ origin: origin.url })
  const same = { ...get, coalesce: true }
  const calls = [
    caller.call(same),
    caller.call(same),
    caller.call({ ...same, headers: ['authorization', 'Bearer other'] }),
    caller.call({ ...same, method: 'POST', body: Buffer.from('x') }),
    caller.call(get),
  ]
  await until(() => waiting.length === 4)
  for (const end of waiting) end()
  const [a, b, c, d, e] = await Promise.all(calls)
  assert.equal(a, b)
  assert.equal(new Set([a, c, d, e]).size, 4)
  const later = caller.call(same)
  await until(() => waiting.length === 5)
  waiting[4]!()
  assert.notEqual(await later, a)
})

test('a dead idle connection is replaced once for repeatable calls', async (t) => {
  let connections = 0
  const origin = await rawServer(t, (socket) => {
    connections++
    let calls = 0
    socket.on('data', () => {
      if (calls++ === 0) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      else socket.destroy()
    })
  })
  const caller = worker(t).client({ origin })
  await caller.call(get)
  // undici considers a connection free only a moment after its response.
  await turn()
  assert.equal((await caller.call(get)).status, 200)
  assert.equal(connections, 2)
  const other = worker(t).client({ origin })
  await other.call(get)
  await turn()
  assert.equal(await failure(other.call({ method: 'POST', path: '/' })), 'broken')
})

test('clients of one origin share its connections, also those of a later snapshot', async (t) => {
  const origin = await httpOrigin(t, (_, res) => res.end())
  const { client, shared } = worker(t)
  for (let i = 0; i < 3; i++) await client({ origin: origin.url, totalMs: 1000 + i }).call(get)
  assert.equal([...shared.values()].filter((value) => value instanceof OutboundPool).length, 1)
  client({ origin: origin.url, connections: 3 })
  assert.equal([...shared.values()].length, 2)
})

test('TLS uses the configured CA, and an origin must be only an origin', async (t) => {
  const { cert, key } = FAKE_CERTIFICATES.localhost
  const server = createSecureServer({ cert, key }, (_, res) => res.end('secure')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const dir = await mkdtemp(join(tmpdir(), 'sluice-client-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const caFile = join(dir, 'ca.pem')
  writeFileSync(caFile, cert)
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`
  const { client } = worker(t)
  assert.equal((await client({ origin, tls: { caFile } }).call(get)).status, 200)
  assert.equal((await client({ origin, tls: { insecure: true } }).call(get)).status, 200)
  assert.equal(await failure(client({ origin }).call(get)), 'unreachable')
  assert.throws(() => client({ origin, tls: { caFile: join(dir, 'none.pem') } }))
  for (const wrong of ['ftp://a', 'http://user@a', 'http://a/path', 'http://a?b', 'a:1', ''])
    assert.throws(() => client({ origin: wrong }), /invalid server address/)
})

test('calls go only to allowed addresses, whatever the name resolves to when connecting', async (t) => {
  const origin = await httpOrigin(t, (_, res) => res.writeHead(200, { connection: 'close' }).end())
  const answers: string[] = []
  const asked: string[] = []
  const lookup: LookupFunction = (name, _, done) => {
    asked.push(name)
    const address = answers.shift() ?? '127.0.0.1'
    done(null, [{ address, family: address.includes(':') ? 6 : 4 }])
  }
  const { client } = worker(t, lookup)
  const named = `http://rebinding.test:${origin.port}`
  const may = client({ origin: named, addresses: ['127.0.0.0/8'] })
  assert.equal((await may.call(get)).status, 200)
  // The name points elsewhere when the next connection is opened.
  answers.push('169.254.169.254')
  assert.equal(await failure(may.call(get)), 'unreachable')
  assert.equal(asked.length, 2)
  const strict = client({ origin: named, addresses: [] })
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', 'fd00:ec2::254']) {
    answers.push(address)
    assert.equal(await failure(strict.call(get)), 'unreachable', address)
  }
  assert.equal(origin.connections(), 1)
  // The URL class normalizes all notations to the same address.
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '017700000001',
    '127.1',
    '[::1]',
    '[::ffff:7f00:1]',
  ])
    assert.throws(
      () => client({ origin: `http://${host}:${origin.port}`, addresses: [] }),
      /are not allowed/,
      host,
    )
})
