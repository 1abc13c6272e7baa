import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../testing/gateway.js'
import { connectRaw } from '../../testing/raw-connection.js'
import type { ClientOwner } from '../listener.js'
import { listen } from './testing/listen.js'

class CountingOwner implements ClientOwner {
  drains = 0
  aborts = 0

  onClientAbort(): void {
    this.aborts++
  }

  onClientDrain(): void {
    this.drains++
  }

  onBodyInvalid(): void {}
}

const CHUNK = Buffer.alloc(64 * 1024, 'c')

for (const length of [-1, 100_000_000]) {
  const kind = length < 0 ? 'unknown' : 'known'
  test(`a burst of ${kind} length arrives completely although nothing is written after it`, async (t) => {
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
