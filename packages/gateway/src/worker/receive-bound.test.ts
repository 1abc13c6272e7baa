import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { listeningSockets, RECEIVE_BUFFER_BYTES } from '../listen/uws/receive-buffer.js'
import { bundleOf, type PlanOverrides, until } from '../testing/gateway.js'
import { closedPort } from '../testing/origin.js'
import { createDataPlane } from './create-data-plane.js'

const WISH: PlanOverrides = {
  routes: [{ id: 'r', timeouts: null, action: { kind: 'respond', status: 200, headers: [], body: 'ok' } }],
}

/** Another process that prints the receive buffer of an inherited socket. */
const TELL = `
const { UDP } = process.binding('udp_wrap')
const handle = new UDP()
handle.open(3)
process.stdout.write(String(handle.bufferSize(0, true, {})))
process.exit()
`

function receiveBufferOf(fd: number): number {
  const { stdout } = spawnSync(process.execPath, ['-e', TELL], {
    stdio: ['ignore', 'pipe', 'inherit', fd],
    env: {},
  })
  return Number(stdout.toString())
}

test("a data plane bounds the kernel's receive buffers", {
  skip: process.platform === 'linux' ? false : 'only Linux bounds what it holds of a connection',
}, async (t) => {
  const port = await closedPort()
  const plane = createDataPlane({
    ...{ catalog: new Map(), worker: 1, version: 'test', ports: { '127.0.0.1:0': port } },
    report: (event, fields) => assert.fail(JSON.stringify([event, fields])),
  })
  t.after(() => plane.drain(500))
  const prepared = await plane.prepare(bundleOf(WISH))
  await prepared.activate()
  const [fd] = listeningSockets([port])
  // The kernel doubles the value that is set.
  await until(() => receiveBufferOf(fd!) === 2 * RECEIVE_BUFFER_BYTES)
})
