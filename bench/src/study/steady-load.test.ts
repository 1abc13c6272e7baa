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
  const load = new SteadyLoad(port, 1000, ['2', 'bench'])
  await load.start()
  await until(() => seen.length >= 100)
  await load.stop()
  const ofOne = seen.filter((agent) => agent === '2').length
  const ofOther = seen.filter((agent) => agent === 'bench').length
  assert.equal(ofOne + ofOther, seen.length)
  assert.ok(ofOne - ofOther === 0 || ofOne - ofOther === 1, `${ofOne} and ${ofOther}`)
})
