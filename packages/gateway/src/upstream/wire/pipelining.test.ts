import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Asked,
  areOver,
  ask,
  askAll,
  bodiesOf,
  endsOf,
  FIRST,
  provenLine,
  wireTo,
} from '../../testing/asking.js'
import { until } from '../../testing/gateway.js'
import { ok, scriptedOrigin } from '../../testing/scripted-origin.js'

// What goes over one connection at once, and in which order.

test('requests of one turn go out in one write, and each gets its own answer', async (t) => {
  const { transport, connection } = await provenLine(t)
  const asked = askAll(transport, '/a', '/b', '/c', '/d')
  await until(() => connection.paths.length === 5)
  assert.deepEqual(connection.paths, [FIRST, '/a', '/b', '/c', '/d'])
  assert.deepEqual(connection.batches, [1, 4])
  connection.socket.write(ok('A') + 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nB\r\n0\r\n')
  await until(() => asked[1]!.body === 'B')
  assert.deepEqual(endsOf(asked), ['complete', 'not yet', 'not yet', 'not yet'])
  connection.socket.write('\r\nHTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n' + ok('D'))
  await until(() => areOver(asked))
  assert.deepEqual(endsOf(asked), ['complete', 'complete', 'complete', 'complete'])
  assert.deepEqual(bodiesOf(asked), ['A', 'B', '', 'D'])
})

test('no more than the bound are under way, and the next leaves when one is answered', async (t) => {
  const { transport, connection } = await provenLine(t, 2)
  const asked = askAll(transport, '/a', '/b', '/c')
  await until(() => connection.paths.length === 3)
  connection.socket.write(ok('A'))
  await until(() => connection.paths.length === 4)
  assert.deepEqual(connection.paths, [FIRST, '/a', '/b', '/c'])
  assert.deepEqual(endsOf(asked), ['complete', 'not yet', 'not yet'])
  connection.socket.write(ok('B') + ok('C'))
  await until(() => areOver(asked))
  assert.deepEqual(bodiesOf(asked), ['A', 'B', 'C'])
})

test('idle connections, then new ones, then together behind the one with the least under way', async (t) => {
  const origin = await scriptedOrigin(t, ({ socket }, path) => void (path === FIRST && socket.write(ok('1'))))
  const transport = wireTo(t, origin.port, { connections: 2, pipelining: 8 })
  const first = askAll(transport, FIRST, FIRST)
  await until(() => areOver(first))
  assert.equal(origin.opened.length, 2)
  const loads = (): number[] => origin.opened.map(({ paths }) => paths.length - 1).sort((a, b) => a - b)
  askAll(transport, '/1', '/2', '/3', '/4', '/5', '/6')
  await until(() => origin.paths().length === 8)
  assert.deepEqual(loads(), [1, 5])
  askAll(transport, '/7', '/8', '/9')
  await until(() => origin.paths().length === 11)
  assert.deepEqual(loads(), [4, 5])
  // More than one connection has room for.
  askAll(transport, '/10', '/11', '/12', '/13', '/14', '/15')
  await until(() => origin.paths().length === 17)
  assert.deepEqual(loads(), [7, 8])
})

test('nothing is pipelined before a connection has answered once and stayed open', async (t) => {
  const origin = await scriptedOrigin(t)
  const transport = wireTo(t, origin.port, { pipelining: 4 })
  const asked = askAll(transport, '/a', '/b', '/c')
  await until(() => origin.paths().length === 1)
  origin.opened[0]!.socket.write(ok('A'))
  await until(() => origin.paths().length === 3)
  assert.deepEqual(origin.opened[0]!.batches, [1, 2])
  assert.equal(asked[0]!.body, 'A')
})

test('without pipelining there is never more than one request under way on a connection', async (t) => {
  let underWay = 0
  let most = 0
  const origin = await scriptedOrigin(t, ({ socket }) => {
    most = Math.max(most, ++underWay)
    setImmediate(() => {
      underWay--
      socket.write(ok('x'))
    })
  })
  const transport = wireTo(t, origin.port, { pipelining: 1 })
  const asked = Array.from({ length: 50 }, (_, i) => ask(transport, `/${i}`))
  await until(() => areOver(asked))
  assert.deepEqual([most, origin.opened.length], [1, 1])
  assert.ok(asked.every(({ end }) => end === 'complete'))
})

const LONE = {
  HEAD: { method: 'HEAD' },
  POST: { method: 'POST' },
  DELETE: { method: 'DELETE' },
  'GET with a body': { method: 'GET', body: Buffer.from('x') },
  'a GET that asks for a new connection': { isFresh: true },
}
for (const [name, alone] of Object.entries(LONE)) {
  test(`${name} has its connection to itself`, async (t) => {
    const { origin, transport } = await provenLine(t)
    const front = ask(transport, '/front')
    const lone = ask(transport, '/lone', alone)
    const behind = ask(transport, '/behind')
    await until(() => origin.paths().length === 2)
    origin.opened[0]!.socket.write(ok('front'))
    await until(() => origin.paths().includes('/lone'))
    assert.equal(front.end, 'complete')
    assert.equal(origin.paths().includes('/behind'), false)
    origin.opened.at(-1)!.socket.write(name === 'HEAD' ? ok('').replace('0', '4') : ok('lone'))
    await until(() => lone.end === 'complete' && origin.paths().includes('/behind'))
    origin.opened.at(-1)!.socket.write(ok('behind'))
    await until(() => behind.end === 'complete')
    assert.deepEqual(bodiesOf([front, behind]), ['front', 'behind'])
  })
}

test('while the client of the first is slow the others wait, and then get their own answers', async (t) => {
  const { transport, connection } = await provenLine(t)
  const [first, ...others] = askAll(transport, '/a', '/b', '/c')
  first!.onPiece = () => first!.attempt!.pause()
  await until(() => connection.paths.length === 4)
  connection.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n')
  connection.socket.write('a'.repeat(200_000) + ok('B') + ok('C'))
  await until(() => first!.body.length > 0)
  const seen = first!.body.length
  assert.deepEqual(endsOf(others), ['not yet', 'not yet'])
  assert.ok(seen < 200_000)
  first!.onPiece = () => {}
  first!.attempt!.resume()
  await until(() => areOver([first!, ...others]))
  assert.equal(first!.body, 'a'.repeat(200_000))
  assert.deepEqual(bodiesOf(others), ['B', 'C'])
})

test('a reader that pauses before its turn has come holds up only those behind it', async (t) => {
  const { transport, connection } = await provenLine(t)
  const asked = askAll(transport, '/a', '/b', '/c')
  await until(() => connection.paths.length === 4)
  asked[1]!.attempt!.pause()
  connection.socket.write(ok('A') + ok('B') + ok('C'))
  await until(() => asked[0]!.end === 'complete' && asked[1]!.status === 200)
  assert.deepEqual(endsOf(asked), ['complete', 'not yet', 'not yet'])
  asked[1]!.attempt!.resume()
  await until(() => areOver(asked))
  assert.deepEqual(bodiesOf(asked), ['A', 'B', 'C'])
})

test('bytes behind the last answer that was asked for close the connection; what is due goes elsewhere', async (t) => {
  const { origin, transport, connection } = await provenLine(t)
  const asked = askAll(transport, '/a', '/b')
  await until(() => connection.paths.length === 3)
  let late: Asked | null = null
  asked[1]!.onPiece = () => {
    late = ask(transport, '/c')
  }
  connection.socket.write(ok('A') + ok('B') + ok('poison'))
  await until(() => origin.opened.length === 2 && origin.opened[1]!.paths.length === 1)
  origin.opened[1]!.socket.write(ok('C'))
  await until(() => late?.end === 'complete')
  assert.deepEqual(bodiesOf([...asked, late!]), ['A', 'B', 'C'])
  assert.equal(late!.takenBack, 0)
  await until(() => connection.isClosed)
})

test('a transport that closes answers all that is under way first', async (t) => {
  const { transport, connection } = await provenLine(t, 2)
  const asked = askAll(transport, '/a', '/b', '/c')
  await until(() => connection.paths.length === 3)
  let isClosed = false
  const closing = transport.close().then(() => {
    isClosed = true
  })
  connection.socket.write(ok('A') + ok('B'))
  await until(() => connection.paths.length === 4)
  assert.equal(isClosed, false)
  connection.socket.write(ok('C'))
  await closing
  assert.deepEqual(bodiesOf(asked), ['A', 'B', 'C'])
})
