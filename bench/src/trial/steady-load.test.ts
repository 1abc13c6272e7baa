import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { SteadyLoad } from './steady-load.js'

async function serverOf(t: TestContext, listener: http.RequestListener): Promise<number> {
  const server = http.createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  t.after(() => server.closeAllConnections())
  return (server.address() as AddressInfo).port
}

async function until(isTrue: () => boolean): Promise<void> {
  const giveUpMono = performance.now() + 30_000
  while (!isTrue()) {
    assert.ok(performance.now() < giveUpMono, 'it must become true in time')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
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
  const load = new SteadyLoad(port, 1000)
  await load.start()
  await until(() => held.length === 64)
  const stillMono = performance.now()
  await until(() => performance.now() > stillMono + 400)
  isStill = false
  for (const response of held) response.end('ok')
  await until(() => load.total > 300)
  await load.stop()
  const { requests, failed, p99Ms } = load.span()
  assert.equal(requests, load.total)
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
  const load = new SteadyLoad(port, 500)
  await load.start()
  await until(() => asked >= 90)
  await load.stop()
  const { requests, failed } = load.span()
  const lost = Math.floor(asked / 3)
  assert.equal(requests, asked - lost)
  assert.equal(failed, lost + Math.floor((asked + 1) / 3))
})

test('clients call themselves by the names that are given, in turn', async (t) => {
  const seen: (string | undefined)[] = []
  const port = await serverOf(t, (request, response) => {
    seen.push(request.headers['user-agent'])
    response.end('ok')
  })
  const load = new SteadyLoad(port, 1000, { agents: ['2', 'bench'] })
  await load.start()
  await until(() => seen.length >= 100)
  await load.stop()
  const ofOne = seen.filter((agent) => agent === '2').length
  const ofOther = seen.filter((agent) => agent === 'bench').length
  assert.equal(ofOne + ofOther, seen.length)
  assert.ok(ofOne - ofOther === 0 || ofOne - ofOther === 1, `${ofOne} and ${ofOther}`)
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
  const load = new SteadyLoad(port, 500, { connections: 4 })
  await load.start()
  await until(() => asked >= 100)
  const window = load.window()
  await load.stop()
  const { requests, failed } = load.span()
  const { errors, answers, gatewayErrors, upstreamErrors } = load.account
  const every = (offset: number): number => Math.floor((asked + offset) / 4)
  assert.deepEqual(answers, { '2xx': every(1), '4xx': every(2), '5xx': every(0) + every(3) })
  assert.deepEqual([gatewayErrors, upstreamErrors], [every(0), every(3)])
  const status = asked - every(1)
  assert.deepEqual(errors, { connect: 0, timeout: 0, reset: 0, status, other: 0 })
  assert.ok(window.requests > 0 && window.requests <= requests, 'a window is a part of its span')
  assert.deepEqual([requests, failed], [asked, status])
})

test('what nobody could send is told, and a server that is gone is asked again', async (t) => {
  const held: http.ServerResponse[] = []
  const server = http.createServer((_, response) => held.push(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const load = new SteadyLoad(port, 1000, { connections: 2, waiting: 5 })
  await load.start()
  await until(() => held.length === 2 && load.account.errors.other > 10)
  server.close()
  server.closeAllConnections()
  await until(() => load.account.errors.connect > 2)
  const again = http.createServer((_, response) => response.end('ok'))
  await new Promise<void>((resolve) => again.listen(port, '127.0.0.1', resolve))
  t.after(() => again.close())
  t.after(() => again.closeAllConnections())
  await until(() => (load.account.answers['2xx'] ?? 0) > 10)
  await load.stop()
  assert.equal(load.account.errors.reset, 2)
})

test('a request on a kept connection that ends unanswered is sent once more, if that is wished', async (t) => {
  let asked = 0
  const port = await serverOf(t, (request, response) => {
    asked++
    // None of the last ones: the load ends without sending them again.
    if (asked % 10 === 0 && asked <= 10 * CUT) request.socket.destroy()
    else response.end('ok')
  })
  const load = new SteadyLoad(port, 500, { connections: 2, sendsAgain: true })
  await load.start()
  await until(() => asked >= 20 * CUT)
  await load.stop()
  const { sentAgain, errors, answers } = load.account
  assert.deepEqual([sentAgain, errors.reset, answers['2xx']], [CUT, 0, asked - CUT])
  assert.equal(load.total, asked - CUT, 'what is sent again is one request')
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
  const load = new SteadyLoad(port, 50, { connections: 1, sendsAgain: true })
  await load.start()
  await until(() => asked >= 20)
  await load.stop()
  const { sentAgain, errors, answers } = load.account
  assert.equal(errors.reset + (answers['2xx'] ?? 0), load.total)
  assert.ok(errors.reset > 0 && sentAgain > 0)
  assert.equal(asked, load.total + sentAgain)
})

test('a request that crosses the end of its connection is sent once more, and counted as such', async (t) => {
  const port = await serverOf(t, (request, response) => {
    response.end('ok')
    setTimeout(() => {
      // Until the next request is due, so that the end is not heard of before it is sent.
      const startMono = performance.now()
      request.socket.destroy()
      while (performance.now() < startMono + 40);
    }, 25)
  })
  const load = new SteadyLoad(port, 20, { connections: 1, sendsAgain: true })
  await load.start()
  await until(() => load.account.crossed > 1)
  await load.stop()
  const { sentAgain, crossed, answers } = load.account
  assert.ok(sentAgain >= crossed && answers['2xx']! > crossed)
})
