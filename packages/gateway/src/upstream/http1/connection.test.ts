import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Asked, areOver, ask, askAll, bodiesOf, wireTo } from '../../testing/asking.js'
import { until } from '../../testing/gateway.js'
import { ok, scriptedOrigin } from '../../testing/scripted-origin.js'

// One connection, and the fate of successive requests on it.

test('there is never more than one request in progress on a connection', async (t) => {
  let underWay = 0
  let most = 0
  const origin = await scriptedOrigin(t, ({ socket }) => {
    most = Math.max(most, ++underWay)
    setImmediate(() => {
      underWay--
      socket.write(ok('x'))
    })
  })
  const transport = wireTo(t, origin.port, {})
  const asked = Array.from({ length: 50 }, (_, i) => ask(transport, `/${i}`))
  await until(() => areOver(asked))
  assert.deepEqual([most, origin.opened.length], [1, 1])
  assert.ok(asked.every(({ end }) => end === 'complete'))
})

test('bytes after the response close the connection; the next request goes elsewhere', async (t) => {
  const origin = await scriptedOrigin(t)
  const transport = wireTo(t, origin.port, {})
  const first = ask(transport, '/a')
  let late: Asked | null = null
  first.onPiece = () => {
    late = ask(transport, '/b')
  }
  await until(() => origin.paths().length === 1)
  const connection = origin.opened[0]!
  connection.socket.write(ok('A') + ok('poison'))
  await until(() => origin.opened[1]?.paths.length === 1)
  origin.opened[1]!.socket.write(ok('B'))
  await until(() => late?.end === 'complete')
  assert.deepEqual(bodiesOf([first, late!]), ['A', 'B'])
  await until(() => connection.isClosed)
})

test('a 204 that announces a body closes its connection, a 304 does not', async (t) => {
  const origin = await scriptedOrigin(t, ({ socket }, path) => {
    if (path === '/204') socket.write('HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\n')
    else if (path === '/304') socket.write('HTTP/1.1 304 Not Modified\r\nContent-Length: 1\r\n\r\n')
    else socket.write(ok('x'))
  })
  const transport = wireTo(t, origin.port, {})
  const asked = askAll(transport, '/304', '/204', '/after')
  await until(() => areOver(asked))
  assert.deepEqual(
    origin.opened.map(({ paths }) => paths),
    [['/304', '/204'], ['/after']],
  )
})

test('a closing transport answers all requests in progress or waiting first', async (t) => {
  const origin = await scriptedOrigin(t)
  const transport = wireTo(t, origin.port, {})
  const asked = askAll(transport, '/a', '/b')
  await until(() => origin.paths().length === 1)
  let isClosed = false
  const closing = transport.close().then(() => {
    isClosed = true
  })
  for (const [i, body] of ['A', 'B'].entries()) {
    await until(() => origin.paths().length === i + 1)
    assert.equal(isClosed, false)
    origin.opened.at(-1)!.socket.write(ok(body))
  }
  await closing
  assert.deepEqual(bodiesOf(asked), ['A', 'B'])
})
