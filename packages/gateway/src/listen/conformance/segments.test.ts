import assert from 'node:assert/strict'
import { until } from '../../testing/gateway.js'
import { echoOrigin } from '../../testing/origin.js'
import { statusesOf } from '../../testing/raw-client.js'
import { connectRaw } from '../../testing/raw-connection.js'
import { testEngines } from '../testing/engines.js'

// Requests whose bytes arrive in a segment each. The request line is one piece, and so is the end of a chunked body:
// docs/guides/engines.md says why.

const LINE = 'POST /a HTTP/1.1\r\n'
const FIELDS = 'Host: a\r\nX-Split: every byte\r\n'
const BODIES: readonly { readonly framing: string; readonly bytes: string; readonly tail: string }[] = [
  { framing: 'Content-Length', bytes: 'Content-Length: 12\r\n\r\nhello, world', tail: '' },
  {
    framing: 'chunks',
    bytes: 'Transfer-Encoding: chunked\r\n\r\n7\r\nhello, \r\n5\r\nworld\r\n0\r',
    tail: '\n\r\n',
  },
]

for (const { framing, bytes, tail } of BODIES) {
  testEngines(
    `a POST framed by ${framing} is served although every byte arrives in its own segment`,
    async (t, start) => {
      const origin = await echoOrigin(t)
      const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
      const client = await connectRaw(t, gateway.port)
      client.send(LINE)
      await client.sendByteByByte(FIELDS + bytes)
      client.send(tail)
      await until(() => client.text.includes('"bytes":12'), 300_000)
      assert.deepEqual(statusesOf(client.text), [200])
      assert.match(client.text, /"x-split":"every byte"/)
    },
  )
}

testEngines('a kept connection is usable after a POST in single bytes', async (t, start) => {
  const origin = await echoOrigin(t)
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const client = await connectRaw(t, gateway.port)
  for (const turn of [1, 2]) {
    client.send(LINE)
    await client.sendByteByByte(FIELDS + BODIES[0]!.bytes)
    await until(() => statusesOf(client.text).length === turn)
  }
  assert.deepEqual(statusesOf(client.text), [200, 200])
})
