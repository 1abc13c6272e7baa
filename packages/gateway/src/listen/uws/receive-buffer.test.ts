import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { until } from '../../testing/gateway.js'
import { closedPort } from '../../testing/origin.js'
import type { ClientOwner, ClientStream } from '../listener.js'
import { limitReceiveBuffers, listeningSockets } from './receive-buffer.js'
import { listen } from './testing/listen.js'

const BODY_BYTES = 128 * 1024 ** 2
/** A sender over loopback does not need that long for 512 KB. */
const WORK_MS = 3

/** Another thread that sends a body as fast as the connection accepts it. */
const SENDER = `
const { connect } = require('node:net')
const { port, bytes } = require('node:worker_threads').workerData
const socket = connect(port, '127.0.0.1')
socket.on('error', () => {})
socket.resume()
socket.write('POST / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: ' + bytes + '\\r\\n\\r\\n')
socket.write(Buffer.alloc(bytes))
`

const NOBODY: ClientOwner = { onClientAbort: () => {}, onClientDrain: () => {}, onBodyInvalid: () => {} }

function workFor(ms: number): void {
  const untilMono = performance.now() + ms
  while (performance.now() < untilMono);
}

const skip = process.platform === 'linux' ? false : 'only Linux bounds what it holds of a connection'

test('a sender that is faster than the gateway blocks no other client, and a pause takes effect', {
  skip,
}, async (t) => {
  let received = 0
  let receivedPaused = 0
  let inTurn = 0
  let mostInTurn = 0
  let isPaused = false
  let hasPaused = false
  const pause = (client: ClientStream): void => {
    isPaused = true
    hasPaused = true
    client.pauseBody()
    setTimeout(() => {
      isPaused = false
      client.resumeBody()
    }, 50)
  }
  const answer = (client: ClientStream): void => {
    client.owner = NOBODY
    client.readBody({
      onBodyChunk(chunk, isLast) {
        received += chunk.length
        if (isPaused) receivedPaused += chunk.length
        if (inTurn++ === 0) setImmediate(() => (inTurn = 0))
        mostInTurn = Math.max(mostInTurn, inTurn)
        workFor(WORK_MS)
        if (isLast) client.send(204, [], null)
        else if (!hasPaused && received > BODY_BYTES / 2) pause(client)
      },
    })
  }
  const port = await listen(t, answer)
  await limitReceiveBuffers([port])
  const sender = new Worker(SENDER, { eval: true, workerData: { port, bytes: BODY_BYTES } })
  t.after(() => sender.terminate())
  await until(() => received === BODY_BYTES)
  assert.ok(mostInTurn <= 2, `${mostInTurn} reads in one turn of the event loop`)
  assert.equal(receivedPaused, 0)
})

test('a listener receives the same bytes with and without the limit', { skip }, async (t) => {
  for (const isBounded of [false, true]) {
    let received = 0
    const port = await listen(t, (client) => {
      client.owner = NOBODY
      client.readBody({
        onBodyChunk(chunk, isLast) {
          received += chunk.length
          if (isLast) client.send(204, [], null)
        },
      })
    })
    if (isBounded) await limitReceiveBuffers([port])
    const sender = new Worker(SENDER, { eval: true, workerData: { port, bytes: BODY_BYTES / 8 } })
    t.after(() => sender.terminate())
    await until(() => received === BODY_BYTES / 8)
  }
})

test('a Node.js without process.binding cannot set the limit, and reports that', () => {
  const program = fileURLToPath(new URL('./receive-buffer-program.js', import.meta.url))
  const without = '--import=data:text/javascript,process.binding=undefined'
  const { status, stderr } = spawnSync(process.execPath, [without, program, '1000', '1'], {
    encoding: 'utf8',
  })
  assert.deepEqual([status, stderr], [1, 'this Node.js has no process.binding for UDP sockets'])
})

test('a port without a listener has no socket to limit', { skip }, async () => {
  await assert.rejects(limitReceiveBuffers([await closedPort()]), /no socket listening on port \d+ found/)
})

test('sockets are found where a table is missing, as without IPv6, and behind many others', {
  skip,
}, async (t) => {
  for (let i = 0; i < 60; i++) await listen(t, (client) => client.abort())
  const port = await listen(t, (client) => client.abort())
  assert.equal(listeningSockets([port], ['none', 'tcp']).length, 1)
  assert.equal(listeningSockets([port, await listen(t, (client) => client.abort())]).length, 2)
  assert.deepEqual(listeningSockets([port], ['none']), [])
})
