import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { origin, until } from '@sluice/cli/testing'
import { ConstantRateLoad } from './constant-rate-load.js'

function loadOf(port: number, perSecond: number, connections = 64, mostWaiting = 20_000): ConstantRateLoad {
  return new ConstantRateLoad(port, perSecond, { connections, mostWaiting, body: 'ok' })
}

async function serverOf(t: TestContext, listener: http.RequestListener): Promise<number> {
  return Number(new URL(await origin(t, listener)).port)
}

/** Requests of a test that are cut off. */
const CUT = 5

test('a server that stands still makes all wait that were due meanwhile, also those that were not sent yet', async (t) => {
  const held: http.ServerResponse[] = []
  let isStill = true
  const port = await serverOf(t, (_, response) => {
    if (isStill) held.push(response)
    else response.end('ok')
  })
  const load = loadOf(port, 1000)
  await load.start()
  await until(() => held.length === 64)
  const stillMono = performance.now()
  await until(() => performance.now() > stillMono + 400)
  isStill = false
  for (const response of held) response.end('ok')
  await until(() => load.account.requests > 300)
  await load.stop()
  const { answered, failed, p99Ms } = load.span()
  assert.equal(answered, load.account.requests)
  assert.equal(failed, 0)
  assert.ok(p99Ms >= 300, `99 % within ${p99Ms} ms, though the server stood still for longer`)
})

test('answers other than 200 and connections that end in a request are failures, and the load goes on', async (t) => {
  let asked = 0
  const port = await serverOf(t, (request, response) => {
    asked++
    if (asked % 3 === 0) request.socket.destroy()
    else response.writeHead(asked % 3 === 1 ? 200 : 503).end()
  })
  const load = loadOf(port, 500)
  await load.start()
  await until(() => asked >= 90)
  await load.stop()
  const { answered } = load.span()
  const { lost, sentAgain, statuses } = load.account
  assert.equal(lost.reset + sentAgain, Math.floor(asked / 3))
  assert.equal(answered, asked - lost.reset - sentAgain)
  assert.equal(statuses['503'], Math.floor((asked + 1) / 3))
})

test('answers are counted by who gave them, and a last answer on a connection is followed by another one', async (t) => {
  let asked = 0
  const port = await serverOf(t, (_, response) => {
    asked++
    if (asked % 4 === 0) response.writeHead(504, { 'x-gw-error': 'GW_UPSTREAM_TIMEOUT' })
    if (asked % 4 === 1) response.writeHead(500)
    if (asked % 4 === 2) response.writeHead(404)
    response.shouldKeepAlive = asked % 5 !== 0
    response.end()
  })
  const load = loadOf(port, 500, 4)
  await load.start()
  await until(() => asked >= 100)
  await load.stop()
  const { answered, failed } = load.span()
  const { lost, statuses, gatewayErrors, upstreamErrors } = load.account
  const every = (offset: number): number => Math.floor((asked + offset) / 4)
  assert.deepEqual(statuses, { 200: every(1), 404: every(2), 500: every(3), 504: every(0) })
  assert.deepEqual([gatewayErrors, upstreamErrors], [every(0), every(3)])
  assert.deepEqual(lost, { connect: 0, reset: 0, timeout: 0, unsent: 0 })
  assert.deepEqual([answered, failed], [asked, asked - every(1)])
})

test('what nobody could send is reported, and a server that is gone is asked again', async (t) => {
  const held: http.ServerResponse[] = []
  const server = http.createServer((_, response) => held.push(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const load = loadOf(port, 1000, 2, 5)
  await load.start()
  await until(() => held.length === 2 && load.account.lost.unsent > 10)
  server.close()
  server.closeAllConnections()
  await until(() => load.account.lost.connect > 2)
  const again = http.createServer((_, response) => response.end('ok'))
  await new Promise<void>((resolve) => again.listen(port, '127.0.0.1', resolve))
  t.after(() => again.close())
  t.after(() => again.closeAllConnections())
  await until(() => (load.account.statuses['200'] ?? 0) > 10)
  await load.stop()
  assert.equal(load.account.lost.reset, 2)
})

test('a connection that was idle for so long that the server may be ending it is replaced before it is asked', async (t) => {
  const sockets = new Set<unknown>()
  const port = await serverOf(t, (request, response) => {
    sockets.add(request.socket)
    response.end('ok')
  })
  const load = new ConstantRateLoad(port, 5, { connections: 1, mostWaiting: 100, body: 'ok', mostIdleMs: 50 })
  await load.start()
  await until(() => sockets.size > 3)
  await load.stop()
  const { sentAgain, lost, statuses, requests } = load.account
  assert.deepEqual(
    [sentAgain, lost, statuses['200']],
    [0, { connect: 0, reset: 0, timeout: 0, unsent: 0 }, requests],
  )
})

test('a request on a kept connection that ends unanswered is sent once more', async (t) => {
  let asked = 0
  const port = await serverOf(t, (request, response) => {
    asked++
    // None of the last ones: the load ends without sending them again.
    if (asked % 10 === 0 && asked <= 10 * CUT) request.socket.destroy()
    else response.end('ok')
  })
  const load = loadOf(port, 500, 2)
  await load.start()
  await until(() => asked >= 20 * CUT)
  await load.stop()
  const { sentAgain, lost, statuses } = load.account
  assert.deepEqual([sentAgain, lost.reset, statuses['200']], [CUT, 0, asked - CUT])
  assert.equal(load.account.requests, asked - CUT, 'what is sent again is one request')
})

test('it is not sent a third time, and not once an answer has begun', async (t) => {
  let asked = 0
  const port = await serverOf(t, (request, response) => {
    asked++
    if (asked === 1) response.end('ok')
    else if (asked % 2 === 0) request.socket.destroy()
    else if (asked % 4 === 1) response.socket!.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n')
    else response.end('ok')
  })
  const load = loadOf(port, 50, 1)
  await load.start()
  await until(() => asked >= 20)
  await load.stop()
  const { sentAgain, lost, statuses } = load.account
  assert.equal(lost.reset + (statuses['200'] ?? 0), load.account.requests)
  assert.ok(lost.reset > 0 && sentAgain > 0)
  assert.equal(asked, load.account.requests + sentAgain)
})
