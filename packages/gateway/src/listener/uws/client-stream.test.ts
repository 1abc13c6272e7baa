import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { RequestIds } from '../../telemetry/request-id.js'
import { until } from '../../testing/gateway.js'
import { closedPort } from '../../testing/origin.js'
import { connectRaw } from '../../testing/raw-connection.js'
import type { ClientOwner, ClientStream, Gate, ListenerSettings } from '../listener.js'
import { openUwsListener } from './listener.js'

const SETTINGS: ListenerSettings = {
  trusted: null,
  health: false,
  strictPaths: false,
  headerBytes: 16_384,
  headers: 100,
  urlBytes: 8192,
  bodyBytes: 1_000_000,
  connections: 100,
  bodyIdleMs: 5000,
}

/** A port whose requests are all answered by this function. */
async function listen(t: TestContext, answer: (client: ClientStream) => void): Promise<number> {
  const faults: unknown[] = []
  const gate: Gate = { accept: (_, client) => answer(client), refuse: (_, client) => client.abort() }
  const listener = await openUwsListener({
    host: '127.0.0.1',
    port: await closedPort(),
    tls: null,
    settings: SETTINGS,
    gate,
    ids: new RequestIds(),
    onFault: (error) => faults.push(error),
    onTurnedAway: () => {},
  })
  t.after(() => {
    listener.terminate()
    assert.deepEqual(faults, [])
  })
  return listener.port
}

class CountingOwner implements ClientOwner {
  drains = 0
  aborts = 0

  onClientAbort(): void {
    this.aborts++
  }

  onClientDrain(): void {
    this.drains++
  }
}

const CHUNK = Buffer.alloc(64 * 1024, 'c')

for (const length of [-1, 100_000_000]) {
  const kind = length < 0 ? 'unknown' : 'known'
  test(`a burst of ${kind} length arrives to its last byte although nothing is written behind it`, async (t) => {
    const owner = new CountingOwner()
    let written = 0
    const port = await listen(t, (client) => {
      client.owner = owner
      client.start(200, [], length)
      let hasRoom = true
      while (hasRoom) {
        hasRoom = client.write(CHUNK)
        written += CHUNK.length
      }
    })
    const client = await connectRaw(t, port)
    client.pause()
    client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => written > 0)
    client.resume()
    await until(() => client.receivedBytes >= written)
    await until(() => client.text.split('c').length - 1 >= written)
    assert.equal(owner.drains, 1)
    assert.equal(owner.aborts, 0)
  })
}
