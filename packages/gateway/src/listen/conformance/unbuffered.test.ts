import assert from 'node:assert/strict'
import type http from 'node:http'
import { until } from '../../testing/gateway.js'
import { httpOrigin } from '../../testing/origin.js'
import { connectRaw } from '../../testing/raw-connection.js'
import { testEngines } from '../testing/engines.js'

// Each event of a stream reaches its client before the target sends the next one.

testEngines('server-sent events arrive one by one, as the target sends them', async (t, start, engine) => {
  let stream: http.ServerResponse | null = null
  const origin = await httpOrigin(t, (_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.flushHeaders()
    stream = res
  })
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const client = await connectRaw(t, gateway.port)
  client.send('GET /events HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n')
  await until(() => stream !== null)
  // uWebSockets.js sends a head with the first bytes of its body (docs/guides/engines.md).
  if (engine === 'node') await until(() => client.text.includes('\r\n\r\n'))
  for (const event of ['data: 1\n\n', ': comment\n\n', 'data: 2\n\n']) {
    stream!.write(event)
    await until(() => client.text.includes(event))
  }
  stream!.end()
  await until(() => client.text.endsWith('0\r\n\r\n'))
})

testEngines(
  'a long poll is answered as soon as the target responds, and others meanwhile',
  async (t, start) => {
    let poll: http.ServerResponse | null = null
    const origin = await httpOrigin(t, (req, res) => {
      if (req.url === '/poll') poll = res
      else res.end('other')
    })
    const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
    const client = await connectRaw(t, gateway.port)
    client.send('GET /poll HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => poll !== null)
    assert.equal(await (await fetch(gateway.url)).text(), 'other')
    assert.equal(client.text, '')
    poll!.end('news')
    await until(() => client.text.endsWith('news'))
  },
)
