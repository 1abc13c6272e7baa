import assert from 'node:assert/strict'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConfigBundle } from '@sluice/config'
import { bundleOf, type PlanOverrides, until } from '../testing/gateway.js'
import { closedPort } from '../testing/origin.js'
import { connectRaw, type RawConnection } from '../testing/raw-connection.js'
import { createDataPlane } from './create-data-plane.js'
import type { DataPlane } from './data-plane.js'

const OK: PlanOverrides = {
  routes: [{ id: 'r', timeouts: null, action: { kind: 'respond', status: 200, headers: [], body: 'ok' } }],
}

/** A data plane that listens but does not serve yet. */
async function prepared(t: TestContext, bundle: ConfigBundle = bundleOf(OK)): Promise<Prepared> {
  const port = await closedPort()
  const events: string[] = []
  const plane = createDataPlane({
    ...{ catalog: new Map(), worker: 1, version: 'test', isReceiveBounded: false },
    ...{ ports: { '127.0.0.1:0': port }, report: (event) => events.push(event) },
  })
  t.after(() => plane.drain(500))
  const { activate } = await plane.prepare(bundle)
  return { port, plane, events, activate }
}

interface Prepared {
  readonly port: number
  readonly plane: DataPlane
  readonly events: readonly string[]
  activate(): Promise<void>
}

/** Waits until sent data has been read. Both ends are in this process, so some turns of the event loop suffice. */
async function read(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await sleep(5)
}

test('early requests wait for the worker, and clients that leave meanwhile are harmless', async (t) => {
  const { port, plane, events, activate } = await prepared(t)
  const leaving = await connectRaw(t, port)
  leaving.send('GET /leaves HTTP/1.1\r\nHost: a\r\n\r\n')
  const waiting = await connectRaw(t, port)
  waiting.send('POST /waits HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody')
  await read()
  leaving.reset()
  await read()
  assert.equal(waiting.text, '')
  await activate()
  await until(() => waiting.text.endsWith('ok'))
  assert.match(waiting.text, /^HTTP\/1\.1 200 OK\r\n/)
  assert.equal(plane.inFlight, 0)
  assert.deepEqual(events, [])
  const answered = plane.samples().filter(({ name }) => name === 'gw_requests_total')
  assert.deepEqual(
    answered
      .filter(({ value }) => value > 0)
      .map(({ labels }) => /status="(\w+)"/.exec(labels)?.[1])
      .sort(),
    ['2xx', '4xx'],
  )
})

test('the body of a waiting upload is not read', async (t) => {
  const limits = { bodyBytes: 1024 ** 3 }
  const { port, activate } = await prepared(t, bundleOf({ ...OK, listener: { limits } }))
  const socket = net.connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.on('error', () => {})
  const body = Buffer.alloc(64 * 1024 ** 2, 'x')
  socket.write(`POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`)
  socket.write(body)
  await read()
  await read()
  // As much as the buffers of both ends hold, and no more.
  assert.ok(socket.writableLength > body.length / 2, `${socket.writableLength} bytes are left to be sent`)
  await activate()
  await until(() => text.endsWith('ok'))
})

test('health is reported while others wait, and neither logged nor counted', async (t) => {
  const { port, plane } = await prepared(t, bundleOf({ ...OK, listener: { health: true } }))
  const connection = await connectRaw(t, port)
  connection.send('GET /-/readyz HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => connection.text.includes('\r\n\r\n'))
  assert.match(connection.text, /^HTTP\/1\.1 503 /)
  const counted = plane.samples().filter(({ name, value }) => name === 'gw_requests_total' && value > 0)
  assert.deepEqual(counted, [])
})

test('at most a thousand requests wait; departed clients make room, and others get 503', async (t) => {
  const { port, activate } = await prepared(t)
  const wait = async (): Promise<RawConnection> => {
    const connection = await connectRaw(t, port)
    connection.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    return connection
  }
  const waiting = await Promise.all(Array.from({ length: 1000 }, wait))
  await read()
  const refused = await wait()
  await until(() => refused.text.includes('\r\n\r\n'))
  assert.match(refused.text, /^HTTP\/1\.1 503 .*GW_OVERLOADED/s)
  assert.match(refused.text, /retry-after: 1\r\n/i)
  waiting[0]!.reset()
  await read()
  const taken = await wait()
  await read()
  assert.equal(taken.text, '')
  await activate()
  for (const connection of [...waiting.slice(1), taken]) await until(() => connection.text.endsWith('ok'))
})

test('a worker that stops before serving refuses waiting requests', async (t) => {
  const { port, plane } = await prepared(t)
  const connection = await connectRaw(t, port)
  connection.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await read()
  await plane.drain(0)
  await until(() => connection.isClosed)
  assert.match(connection.text, /^HTTP\/1\.1 503 /)
  await assert.rejects(connectRaw(t, port), /ECONNREFUSED/)
})
