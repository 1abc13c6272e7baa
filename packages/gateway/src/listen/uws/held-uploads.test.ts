import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway, TIMEOUTS } from '../../testing/gateway.js'
import { httpOrigin } from '../../testing/origin.js'

const UPLOAD_BYTES = 64 * 1024 ** 2
const HELD_MS = 15_000

test('an upload that its target holds back for longer than the listener waits arrives complete', async (t) => {
  const origin = await httpOrigin(t, (req, res) => {
    let bytes = 0
    setTimeout(() => {
      req.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      req.on('end', () => res.end(String(bytes)))
    }, HELD_MS)
  })
  const gateway = await startGateway(t, {
    listener: { limits: { bodyBytes: UPLOAD_BYTES, bodyIdleMs: 60_000 } },
    upstreams: [{ urls: [origin.url], timeouts: { ...TIMEOUTS, idleMs: 60_000, headersMs: 60_000 } }],
  })
  const response = await fetch(gateway.url, { method: 'POST', body: Buffer.alloc(UPLOAD_BYTES) })
  assert.equal(await response.text(), String(UPLOAD_BYTES))
})
