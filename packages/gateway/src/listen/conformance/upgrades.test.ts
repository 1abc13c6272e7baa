import assert from 'node:assert/strict'
import { until } from '../../testing/gateway.js'
import { answering, echoOrigin, rawOrigin } from '../../testing/origin.js'
import { statusesOf } from '../../testing/raw-client.js'
import { connectRaw } from '../../testing/raw-connection.js'
import { testEngines } from '../testing/engines.js'

// Upgrades are hop-by-hop and not forwarded. Optional ones are ignored, required ones are refused.

const OFFERED: readonly { readonly name: string; readonly fields: readonly string[] }[] = [
  {
    name: 'HTTP/2 without TLS',
    fields: [
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA',
    ],
  },
  { name: 'a protocol that Connection does not name', fields: ['Upgrade: tunnel/1'] },
]
const NEEDED: readonly { readonly name: string; readonly fields: readonly string[] }[] = [
  {
    name: 'WebSocket',
    fields: [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version: 13',
    ],
  },
  { name: 'an unknown protocol', fields: ['Connection: keep-alive, Upgrade', 'Upgrade: tunnel/1'] },
]

for (const { name, fields } of NEEDED) {
  testEngines(
    `a request to upgrade to ${name} is answered with 501 and does not reach the target`,
    async (t, start) => {
      const origin = await echoOrigin(t)
      const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
      const client = await connectRaw(t, gateway.port)
      client.send(`GET /a HTTP/1.1\r\nHost: a\r\n${fields.join('\r\n')}\r\n\r\n`)
      await until(() => client.isClosed)
      assert.deepEqual(statusesOf(client.text), [501])
      assert.match(client.text, /application\/problem\+json/)
      assert.match(client.text, /"code":"GW_UPGRADE_NOT_SUPPORTED"/)
      assert.equal(origin.connections(), 0)
    },
  )
}

for (const { name, fields } of OFFERED) {
  testEngines(
    `a request to upgrade to ${name} is served as the plain request it also is`,
    async (t, start) => {
      const origin = await echoOrigin(t)
      const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
      const client = await connectRaw(t, gateway.port)
      client.send(`GET /a HTTP/1.1\r\nHost: a\r\n${fields.join('\r\n')}\r\n\r\n`)
      await until(() => client.text.includes('"bytes":0'))
      assert.deepEqual(statusesOf(client.text), [200])
      assert.doesNotMatch(client.text, /"(upgrade|http2-settings)":/)
      assert.doesNotMatch(client.text, /"connection":"[^"]*upgrade/i)
      // The next bytes are another request, never another protocol.
      client.send('GET /next HTTP/1.1\r\nHost: a\r\n\r\n')
      await until(() => client.text.includes('"url":"/next"'))
    },
  )
}

const SWITCHES = [
  { name: 'with its fields', fields: 'Connection: Upgrade\r\nUpgrade: websocket\r\n' },
  { name: 'without fields', fields: '' },
]
for (const { name, fields } of SWITCHES) {
  testEngines(`a target that switches protocols ${name} leads to 502`, async (t, start) => {
    const origin = await rawOrigin(t, answering(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\nraw bytes`))
    const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
    const client = await connectRaw(t, gateway.port)
    client.send('GET /a HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => statusesOf(client.text).length > 0)
    assert.deepEqual(statusesOf(client.text), [502])
    assert.match(client.text, /GW_UPSTREAM_INVALID/)
    assert.doesNotMatch(client.text, /raw bytes/)
    assert.equal(origin.connections(), 1)
    await until(() => gateway.plane.inFlight === 0)
  })
}

testEngines('an upgrade that a target only offers is ignored', async (t, start) => {
  const offer = 'HTTP/1.1 200 OK\r\nConnection: Upgrade\r\nUpgrade: h2,h2c\r\nContent-Length: 4\r\n\r\nbody'
  const origin = await rawOrigin(t, answering(offer))
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const client = await connectRaw(t, gateway.port)
  client.send('GET /a HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => client.text.endsWith('body'))
  assert.deepEqual(statusesOf(client.text), [200])
  assert.doesNotMatch(client.text, /upgrade/i)
})
