import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleExchange, scratchDir, until } from '../testing.js'
import { openShippingSink } from './shipping-sink.js'

test('the age of the oldest record that waits does not follow a clock that is set', async (t) => {
  const sink = openShippingSink({
    ...{ fields: 'minimal', worker: 1, version: '0.1.0', configDigest: () => 'abc' },
    spool: { dir: scratchDir(), maxBytes: 8 * 1024 ** 2, whenFull: 'drop-oldest' },
    output: {
      ...{ kind: 'webhook', url: 'http://127.0.0.1:1/', timeoutMs: 1000, compress: false, signature: null },
      ...{ headers: {}, auth: null, format: 'ndjson', tls: { caFile: null, insecure: false } },
    },
  })
  t.after(() => sink.close(0))
  await sink.opened
  sink.record(sampleExchange())
  await until(() => sink.identity().lagMs > 0, 'it waits')
  const hourMs = 3_600_000
  for (const stepMs of [hourMs, -hourMs]) {
    const wallMs = Date.now() + stepMs
    const clock = t.mock.method(Date, 'now', () => wallMs)
    const { lagMs } = sink.identity()
    assert.ok(lagMs > 0 && lagMs < 60_000, `${lagMs} ms`)
    clock.mock.restore()
  }
})
