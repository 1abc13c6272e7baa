import assert from 'node:assert/strict'
import type http from 'node:http'
import { test } from 'node:test'
import { TIMEOUTS, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { connectRaw } from '../testing/raw-connection.js'
import { startLogged, type WrittenRecord } from '../testing/traffic-records.js'

interface LoggedStream {
  readonly events?: number
  readonly bytes: number
  readonly ms: number
  readonly closed_by: string
}

/** The rest of the path selects what follows the first event. */
const ENDINGS: Readonly<Record<string, (res: http.ServerResponse) => void>> = {
  '/whole': (res) => res.end('event: add\r\ndata: 2\r\n\r\n'),
  '/cut': (res) => res.destroy(),
  '/endless': () => {},
  '/coded': (res) => res.end('not what it seems\n\n'),
}

function streamOf({ stream }: WrittenRecord): LoggedStream {
  return stream as LoggedStream
}

async function startStreams(t: Parameters<typeof startLogged>[0], idleMs = TIMEOUTS.idleMs) {
  const origin = await httpOrigin(t, (req, res) => {
    const coding = req.url === '/coded' ? { 'content-encoding': 'br' } : {}
    res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', ...coding })
    res.write('data: 1\n\n: a comment\n\n')
    setImmediate(() => ENDINGS[req.url!]!(res))
  })
  const timeouts = { ...TIMEOUTS, idleMs }
  return startLogged(t, { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', timeouts }] })
}

test('the record of an event stream shows the number of events, and who ended it', async (t) => {
  const gateway = await startStreams(t)
  await (await fetch(`${gateway.url}/whole`)).text()
  await assert.rejects(async () => (await fetch(`${gateway.url}/cut`)).text())
  await (await fetch(`${gateway.url}/coded`)).arrayBuffer().catch(() => {})
  const client = await connectRaw(t, gateway.port)
  client.send('GET /endless HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => client.text.includes(': a comment'))
  client.reset()
  await until(() => gateway.plane.logIdentity().received === 4)
  const records = await gateway.records()
  const reported = Object.fromEntries(
    records.map((record) => [(record['url'] as { path: string }).path, streamOf(record)]),
  )
  const sent = 'data: 1\n\n: a comment\n\n'.length
  assert.deepEqual(
    Object.values(reported).map((stream) => typeof stream.ms),
    ['number', 'number', 'number', 'number'],
  )
  const { ms: _, ...whole } = reported['/whole']!
  assert.deepEqual(whole, {
    events: 2,
    bytes: sent + 'event: add\r\ndata: 2\r\n\r\n'.length,
    closed_by: 'upstream',
  })
  assert.deepEqual([reported['/cut']!.events, reported['/cut']!.closed_by], [1, 'upstream'])
  assert.deepEqual([reported['/endless']!.events, reported['/endless']!.closed_by], [1, 'client'])
  assert.deepEqual([reported['/coded']!.events, reported['/coded']!.closed_by], [undefined, 'upstream'])
})

test('an event stream that makes no progress for too long is ended by the gateway, and reported so', async (t) => {
  const gateway = await startStreams(t, 50)
  await assert.rejects(async () => (await fetch(`${gateway.url}/endless`)).text())
  const [record] = await gateway.records()
  assert.equal(streamOf(record!).closed_by, 'gateway')
})

test('other responses have no stream in their record', async (t) => {
  const origin = await httpOrigin(t, (_, res) => {
    res.writeHead(200, { 'content-type': 'text/plain' }).write('data: 1\n\n')
    setImmediate(() => res.end())
  })
  const gateway = await startLogged(t, { upstreams: [{ urls: [origin.url] }] })
  await (await fetch(gateway.url)).text()
  const [record] = await gateway.records()
  assert.equal(record!['stream'], undefined)
})
