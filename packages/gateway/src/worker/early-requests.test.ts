import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadOf, type PlanWish, until } from '../testing/gateway.js'
import { closedPort } from '../testing/origin.js'
import { connectRaw } from '../testing/raw-connection.js'
import { createDataPlane } from './create-data-plane.js'

const OK: PlanWish = {
  routes: [{ id: 'r', timeouts: null, action: { kind: 'respond', status: 200, headers: [], body: 'ok' } }],
}

test('what comes before a worker serves waits for it, and a client that leaves meanwhile costs nothing', async (t) => {
  const port = await closedPort()
  const plane = createDataPlane({
    ...{ catalog: new Map(), worker: 1, version: 'test', isReceiveBounded: false },
    ...{
      ports: { '127.0.0.1:0': port },
      report: (event, fields) => assert.fail(JSON.stringify([event, fields])),
    },
  })
  t.after(() => plane.drain(500))
  const prepared = await plane.prepare(loadOf(OK))
  const leaving = await connectRaw(t, port)
  leaving.send('GET /leaves HTTP/1.1\r\nHost: a\r\n\r\n')
  const waiting = await connectRaw(t, port)
  waiting.send('POST /waits HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody')
  // Both ends are in this process: what was sent has been read after some turns of its event loop.
  await sleep(50)
  leaving.reset()
  await sleep(50)
  assert.equal(waiting.text, '')
  prepared.activate()
  await until(() => waiting.text.endsWith('ok'))
  assert.match(waiting.text, /^HTTP\/1\.1 200 OK\r\n/)
  assert.equal(plane.inFlight, 0)
  const answered = plane.samples().filter(({ name }) => name === 'gw_requests_total')
  assert.deepEqual(
    answered
      .filter(({ value }) => value > 0)
      .map(({ labels }) => /status="(\w+)"/.exec(labels)?.[1])
      .sort(),
    ['2xx', '4xx'],
  )
})
