import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ResponseHead } from '../../upstream/http1/response-head.js'
import { ChunkedBody } from './chunked-body.js'
import { BROKEN, TOO_LARGE } from './message-head.js'

const BODY = '3;a;b=c\r\nabc\r\n00A;name="a \\" b;";x\r\n0123456789\r\n0;last\r\nX-Sum: 7\r\n\r\n'

interface Found {
  readonly data: string
  readonly end: number
  readonly isDone: boolean
}

function findAll(pieces: readonly string[]): Found {
  const body = new ChunkedBody(new ResponseHead(256))
  body.begin()
  let data = ''
  let before = 0
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, 'latin1')
    let at = 0
    while (at < bytes.length && !body.isDone) {
      at = body.find(bytes, at, bytes.length)
      if (at < 0) return { data, end: at, isDone: false }
      data += bytes.toString('latin1', at, at + body.available)
      at += body.available
    }
    if (body.isDone) return { data, end: before + at, isDone: true }
    before += bytes.length
  }
  return { data, end: before, isDone: false }
}

test('a chunked body is parsed the same however it is split in two, and nothing after it is consumed', () => {
  for (let at = 0; at <= BODY.length; at++) {
    const found = findAll([BODY.slice(0, at), `${BODY.slice(at)}HTTP/1.1`])
    assert.deepEqual(found, { data: 'abc0123456789', end: BODY.length, isDone: true }, `cut at ${at}`)
  }
  assert.equal(findAll([...BODY]).data, 'abc0123456789')
})

const BROKEN_BODIES = {
  'no size': '\r\nabc',
  'an extension without a size': ';a\r\n',
  'a size that is no number': '3g\r\nabc\r\n',
  'a sign in front of the size': '+3\r\nabc\r\n',
  'a prefix in front of the size': '0x3\r\nabc\r\n',
  'a space in front of the size': ' 3\r\nabc\r\n',
  'a space behind the size': '3 \r\nabc\r\n',
  'a size beyond exact integers': 'fffffffffffffff\r\n',
  'a bare LF behind the size': '3\nabc\r\n',
  'a bare CR behind the size': '3\rabc',
  'an extension without a name': '3;\r\nabc\r\n',
  'a space in front of an extension': '3; a=b\r\nabc\r\n',
  'an extension that is no token': '3;(a)\r\nabc\r\n',
  'an extension whose value is no token': '3;a=b/c\r\nabc\r\n',
  'a quotation in an extension that does not end': '3;a="b\r\nabc\r\n',
  'something behind a quotation in an extension': '3;a="b"c\r\nabc\r\n',
  'a control character in a quotation': '3;a="\x01"\r\nabc\r\n',
  'a control character in an extension': '3;a\0\r\nabc\r\n',
  'an endless extension': `3;${'a'.repeat(5000)}`,
  'endless zeros': '0'.repeat(5000),
  'data that is longer than its size': '3\r\nabcd\r\n',
  'a bare LF behind the data': '3\r\nabc\n0\r\n\r\n',
  'a broken trailer': '0\r\nA b\r\n\r\n',
  'a length among the trailers': '0\r\nContent-Length: 3\r\n\r\n',
  'a transfer coding among the trailers': '0\r\nTransfer-Encoding: chunked\r\n\r\n',
}
for (const [name, text] of Object.entries(BROKEN_BODIES)) {
  test(`a chunked body with ${name} is refused, however it is split`, () => {
    for (let at = 0; at <= text.length; at += text.length > 100 ? 97 : 1)
      assert.equal(findAll([text.slice(0, at), text.slice(at)]).end, BROKEN, `cut at ${at}`)
  })
}

test('trailers have the same size limit as a head', () => {
  assert.equal(findAll([`0\r\nA: ${'x'.repeat(300)}`]).end, TOO_LARGE)
})
