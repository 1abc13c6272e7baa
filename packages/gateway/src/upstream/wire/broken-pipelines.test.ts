import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Asked, areOver, ask, askAll, bodiesOf, endsOf, provenLine } from '../../testing/asking.js'
import { until } from '../../testing/gateway.js'
import { ok } from '../../testing/scripted-origin.js'

// What becomes of those behind, when something happens to the one in front of them or to their connection.

const codesOf = (asked: readonly Asked[]): (string | undefined)[] => asked.map((one) => one.failure?.code)

const CUTS = {
  'a response cut in the middle': ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel', 'GW_UPSTREAM_INVALID'],
  'a close before the response': ['', 'GW_UPSTREAM_RESET'],
  'a head cut in the middle': ['HTTP/1.1 200 O', 'GW_UPSTREAM_RESET'],
} as const
for (const [name, [bytes, code]] of Object.entries(CUTS)) {
  test(`${name} fails the one it belongs to, and resets those behind`, async (t) => {
    const { transport, connection } = await provenLine(t)
    const asked = askAll(transport, '/a', '/b', '/c')
    await until(() => connection.paths.length === 4)
    connection.socket.end(ok('A') + bytes)
    await until(() => areOver(asked))
    assert.deepEqual(endsOf(asked), ['complete', 'failed', 'failed'])
    assert.deepEqual(codesOf(asked), [undefined, code, 'GW_UPSTREAM_RESET'])
    assert.deepEqual([asked[2]!.status, asked[2]!.body], [0, ''])
  })
}

const LIES = {
  garbage: 'hello\r\n\r\n',
  'two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
  'a 100 nobody asked for': 'HTTP/1.1 100 Continue\r\n\r\n',
  'more bytes than announced': ok('B') + 'more',
}
for (const [name, bytes] of Object.entries(LIES)) {
  test(`behind ${name} no answer is believed`, async (t) => {
    const { transport, connection } = await provenLine(t)
    const asked = askAll(transport, '/a', '/b', '/c', '/d')
    await until(() => connection.paths.length === 5)
    connection.socket.write(ok('A') + bytes + ok('C') + ok('D'))
    await until(() => areOver(asked) && connection.isClosed)
    assert.equal(asked[0]!.body, 'A')
    assert.deepEqual(bodiesOf(asked.slice(2)), ['', ''])
    assert.deepEqual(endsOf(asked.slice(2)), ['failed', 'failed'])
    assert.equal(asked[3]!.failure!.code, 'GW_UPSTREAM_RESET')
  })
}

test('a target that drops what comes behind a request answers one with what belongs to another', async (t) => {
  const { transport, connection } = await provenLine(t)
  const asked = askAll(transport, '/dropped', '/also-dropped')
  await until(() => connection.paths.length === 3)
  const later = ask(transport, '/later')
  await until(() => connection.paths.length === 4)
  connection.socket.write(ok('later'))
  await until(() => asked[0]!.end === 'complete')
  assert.deepEqual(bodiesOf([...asked, later]), ['later', '', ''])
})

const LAST = {
  'Connection: close': ok('A', 'Connection: close\r\n'),
  'a version without keep-alive': ok('A').replace('1.1', '1.0'),
}
for (const [name, bytes] of Object.entries(LAST)) {
  test(`what is behind ${name} goes over another connection, without having failed`, async (t) => {
    const { origin, transport, connection } = await provenLine(t)
    const asked = askAll(transport, '/a', '/b', '/c')
    await until(() => connection.paths.length === 4)
    connection.socket.write(bytes + ok('poison'))
    await until(() => origin.opened[1]?.paths.length === 1)
    assert.deepEqual(endsOf(asked), ['complete', 'not yet', 'not yet'])
    origin.opened[1]!.socket.write(ok('B'))
    await until(() => origin.opened[1]?.paths.length === 2)
    origin.opened[1]!.socket.write(ok('C'))
    await until(() => areOver(asked))
    assert.deepEqual(bodiesOf(asked.slice(1)), ['B', 'C'])
    assert.deepEqual(
      asked.map(({ starts, takenBack }) => [starts, takenBack]),
      [
        [1, 0],
        [2, 1],
        [2, 1],
      ],
    )
  })
}

const DOUBTFUL = {
  'a 204 that announces a body': 'HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\n',
  'a 304 that announces a body': 'HTTP/1.1 304 Not Modified\r\nContent-Length: 1\r\n\r\n',
}
for (const [name, bytes] of Object.entries(DOUBTFUL)) {
  test(`what is behind ${name} is reset, because the target may have acted on it`, async (t) => {
    const { transport, connection } = await provenLine(t)
    const asked = askAll(transport, '/a', '/b', '/c')
    await until(() => connection.paths.length === 4)
    connection.socket.write(bytes + ok('poison'))
    await until(() => areOver(asked) && connection.isClosed)
    assert.deepEqual(endsOf(asked), ['complete', 'failed', 'failed'])
    assert.deepEqual(codesOf(asked), [undefined, 'GW_UPSTREAM_RESET', 'GW_UPSTREAM_RESET'])
    assert.deepEqual(bodiesOf(asked), ['', '', ''])
  })
}

test('one that is given up while another leaves is not sent, and the others get their own answers', async (t) => {
  const { transport, connection } = await provenLine(t)
  const asked = askAll(transport, '/a', '/b', '/c', '/d')
  asked[1]!.onLeaving = () => asked[2]!.attempt!.abort()
  await until(() => connection.paths.length === 4)
  connection.socket.write(ok('A') + ok('B') + ok('D'))
  await until(() => asked[3]!.end === 'complete')
  assert.deepEqual(connection.paths.slice(1), ['/a', '/b', '/d'])
  assert.deepEqual(bodiesOf(asked), ['A', 'B', '', 'D'])
})

test('a response that ends with its connection is complete, and those behind go elsewhere', async (t) => {
  const { origin, transport, connection } = await provenLine(t)
  const asked = askAll(transport, '/a', '/b')
  await until(() => connection.paths.length === 3)
  connection.socket.end('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n')
  await until(() => origin.opened[1]?.paths.length === 1)
  origin.opened[1]!.socket.write(ok('B'))
  await until(() => areOver(asked))
  assert.deepEqual(bodiesOf(asked), ['HTTP/1.1 200 OK\r\n\r\n', 'B'])
})

test('a request is taken back once; the second time it is reset', async (t) => {
  const { origin, transport, connection } = await provenLine(t)
  const asked = askAll(transport, '/a', '/b', '/c', '/d')
  await until(() => connection.paths.length === 5)
  connection.socket.write(ok('A', 'Connection: close\r\n'))
  await until(() => origin.opened[1]?.paths.length === 1)
  origin.opened[1]!.socket.write(ok('B'))
  await until(() => origin.opened[1]?.paths.length === 3)
  origin.opened[1]!.socket.write(ok('C', 'Connection: close\r\n'))
  await until(() => areOver(asked))
  assert.deepEqual(endsOf(asked), ['complete', 'complete', 'complete', 'failed'])
  assert.equal(asked[3]!.failure!.code, 'GW_UPSTREAM_RESET')
  assert.equal(asked[3]!.takenBack, 1)
})

test('an attempt given up in the middle costs its neighbours nothing, and nobody gets its answer', async (t) => {
  const { origin, transport, connection } = await provenLine(t)
  const asked = askAll(transport, '/a', '/b', '/c')
  await until(() => connection.paths.length === 4)
  asked[1]!.attempt!.abort()
  const late = ask(transport, '/late')
  connection.socket.write(ok('A') + ok('B'))
  await until(() => asked[0]!.end === 'complete')
  connection.socket.write(ok('C'))
  await until(() => asked[2]!.end === 'complete' && connection.isClosed)
  assert.deepEqual(bodiesOf(asked), ['A', '', 'C'])
  assert.equal(asked[1]!.end, 'not yet')
  await until(() => origin.opened[1]?.paths.length === 1)
  origin.opened[1]!.socket.write(ok('late'))
  await until(() => late.end === 'complete')
})

test('one after the other may be given up, and who is left is answered', async (t) => {
  const { transport, connection } = await provenLine(t)
  const asked = askAll(transport, '/a', '/b', '/c')
  await until(() => connection.paths.length === 4)
  asked[0]!.attempt!.abort()
  connection.socket.write(ok('A') + 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n')
  await until(() => asked[1]!.status === 200)
  asked[2]!.attempt!.abort()
  connection.socket.write('B')
  await until(() => asked[1]!.end === 'complete' && connection.isClosed)
  assert.deepEqual(bodiesOf(asked), ['', 'B', ''])
})

test('an attempt given up at its head hears nothing more, be there a body or not', async (t) => {
  for (const bytes of ['HTTP/1.1 204 No Content\r\n\r\n', ok('A')]) {
    for (const others of [[], ['/b']]) {
      const { transport, connection } = await provenLine(t)
      const first = ask(transport, '/a')
      const behind = askAll(transport, ...others)
      first.onAnswer = () => first.attempt!.abort()
      await until(() => connection.paths.length === 2 + others.length)
      connection.socket.write(bytes + others.map(() => ok('B')).join(''))
      await until(() => areOver(behind) && connection.isClosed)
      assert.deepEqual(
        [first.end, first.body, ...bodiesOf(behind)],
        ['not yet', '', ...others.map(() => 'B')],
      )
    }
  }
})

test('the rest of a short response that its reader gave up is thrown away', async (t) => {
  const { transport, connection } = await provenLine(t)
  const asked = askAll(transport, '/a', '/b')
  asked[0]!.onPiece = () => asked[0]!.attempt!.abort()
  await until(() => connection.paths.length === 3)
  connection.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\nhello')
  await until(() => asked[0]!.body === 'hello')
  connection.socket.write('x'.repeat(49_995) + ok('B'))
  await until(() => asked[1]!.end === 'complete')
  assert.deepEqual(bodiesOf(asked), ['hello', 'B'])
})

test('a response given up with all of it there, or while it was paused, is passed over', async (t) => {
  const { transport, connection } = await provenLine(t)
  const asked = askAll(transport, '/a', '/b', '/c', '/d')
  asked[0]!.onPiece = () => asked[0]!.attempt!.abort()
  asked[1]!.onPiece = () => asked[1]!.attempt!.pause()
  await until(() => connection.paths.length === 5)
  connection.socket.write(ok('A') + 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nB\r\n')
  connection.socket.write('3\r\nmor\r\n0\r\n\r\n' + ok('C') + ok('D'))
  await until(() => asked[1]!.body === 'B')
  assert.equal(asked[2]!.end, 'not yet')
  asked[1]!.attempt!.abort()
  await until(() => areOver(asked.slice(2)))
  assert.deepEqual(bodiesOf(asked), ['A', 'B', 'C', 'D'])
})

test('a long response that its reader gave up closes the connection, and those behind are asked for again', async (t) => {
  const { origin, transport, connection } = await provenLine(t)
  const asked = askAll(transport, '/a', '/b')
  asked[0]!.onPiece = () => asked[0]!.attempt!.abort()
  await until(() => connection.paths.length === 3)
  connection.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(150_000)}`)
  await until(() => origin.opened[1]?.paths.length === 1)
  assert.deepEqual([asked[1]!.end, asked[1]!.takenBack], ['not yet', 1])
  origin.opened[1]!.socket.write(ok('B'))
  await until(() => asked[1]!.end === 'complete')
  assert.equal(asked[1]!.body, 'B')
  await until(() => connection.isClosed)
})

test('when all have given up the connection is closed, and what was due goes elsewhere', async (t) => {
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 0, 2],
  ]) {
    const { origin, transport, connection } = await provenLine(t)
    const asked = askAll(transport, '/a', '/b', '/c')
    await until(() => connection.paths.length === 4)
    const due = ask(transport, '/due')
    for (const i of order) asked[i]!.attempt!.abort()
    await until(() => connection.isClosed && origin.opened[1]?.paths.length === 1)
    origin.opened[1]!.socket.write(ok('due'))
    await until(() => due.end === 'complete')
    assert.deepEqual([due.body, due.starts], ['due', 1])
  }
})

test('one that is given up before it was written leaves the others where they are', async (t) => {
  const { transport, connection } = await provenLine(t)
  const asked = askAll(transport, '/a', '/b', '/c')
  asked[0]!.attempt!.abort()
  asked[1]!.attempt!.abort()
  await until(() => connection.paths.length === 2)
  connection.socket.write(ok('C'))
  await until(() => asked[2]!.end === 'complete')
  assert.deepEqual(connection.paths.slice(1), ['/c'])
  assert.deepEqual([asked[0]!.starts, asked[1]!.starts], [0, 0])
})

test('when the target is gone, those taken back fail as not connected', async (t) => {
  const { origin, transport, connection } = await provenLine(t)
  const asked = askAll(transport, '/a', '/b')
  await until(() => connection.paths.length === 3)
  origin.stop()
  connection.socket.end(ok('A', 'Connection: close\r\n'))
  await until(() => areOver(asked))
  assert.deepEqual(codesOf(asked), [undefined, 'GW_UPSTREAM_REFUSED'])
  assert.equal(asked[1]!.failure!.phase, 'connect')
})
