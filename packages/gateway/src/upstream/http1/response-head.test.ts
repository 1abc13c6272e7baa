import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BROKEN, MORE, TOO_LARGE } from '../../protocol/http1/message-head.js'
import { ResponseHead } from './response-head.js'

const MAX_BYTES = 1024
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type:text/plain \r\nX-Empty:\r\nX-Name: \t Jos\xe9 a\r\n\r\n'
const FIELDS = ['content-type', 'text/plain', 'x-empty', '', 'x-name', 'Jos\xe9 a']

/** Reads a head from pieces. Returns the last result, as a position in all bytes. */
function readPieces(head: ResponseHead, pieces: readonly string[]): number {
  let before = 0
  for (const piece of pieces) {
    const bytes = Buffer.from(`#${piece}#`, 'latin1')
    const end = head.read(bytes, 1, bytes.length - 1)
    if (end !== MORE) return end < 0 ? end : before + end - 1
    before += piece.length
  }
  return MORE
}

test('a head is parsed the same however it is split in two', () => {
  const head = new ResponseHead(MAX_BYTES)
  for (let at = 0; at <= HEAD.length; at++) {
    head.begin()
    assert.equal(readPieces(head, [HEAD.slice(0, at), `${HEAD.slice(at)}body`]), HEAD.length, `cut at ${at}`)
    assert.equal(head.status, 200)
    assert.deepEqual(head.takeFields(), FIELDS)
  }
})

test('a head is parsed the same byte by byte', () => {
  const head = new ResponseHead(MAX_BYTES)
  head.begin()
  assert.equal(readPieces(head, [...HEAD]), HEAD.length)
  assert.deepEqual(head.takeFields(), FIELDS)
})

const BROKEN_HEADS = {
  'another protocol': 'SSH-2.0-x\r\n',
  'a TLS alert': '\x15\x03\x03\0\x02\x02\x50',
  'HTTP/2': 'HTTP/2.0 200 OK\r\n\r\n',
  'HTTP/1.2': 'HTTP/1.2 200 OK\r\n\r\n',
  'a version in lower case': 'http/1.1 200 OK\r\n\r\n',
  'two digits of status': 'HTTP/1.1 20 OK\r\n\r\n',
  'four digits of status': 'HTTP/1.1 2000 OK\r\n\r\n',
  'a second space in front of the status': 'HTTP/1.1  200 OK\r\n\r\n',
  'a control character in the reason': 'HTTP/1.1 200 O\0K\r\n\r\n',
  'a bare LF behind the status line': 'HTTP/1.1 200 OK\nA: b\r\n\r\n',
  'a bare LF behind a field': 'HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n',
  'a bare CR in a value': 'HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n',
  'a bare LF at the end': 'HTTP/1.1 200 OK\r\nA: b\r\n\n',
  'a fold': 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n',
  'a fold behind an empty value': 'HTTP/1.1 200 OK\r\nA:\r\n\tc\r\n\r\n',
  'a space within a name': 'HTTP/1.1 200 OK\r\nA b: c\r\n\r\n',
  'a space for a name': 'HTTP/1.1 200 OK\r\n : b\r\n\r\n',
  'a name that ends with a space': 'HTTP/1.1 200 OK\r\nA \r\n\r\n',
  'an empty name': 'HTTP/1.1 200 OK\r\n: b\r\n\r\n',
  'a line without a colon': 'HTTP/1.1 200 OK\r\nAb\r\n\r\n',
  'a NUL in a value': 'HTTP/1.1 200 OK\r\nA: b\0\r\n\r\n',
  'a DEL in a value': 'HTTP/1.1 200 OK\r\nA: b\x7f\r\n\r\n',
  'a byte from 0x80 on in a name': 'HTTP/1.1 200 OK\r\n\xe9: b\r\n\r\n',
}
for (const [name, text] of Object.entries(BROKEN_HEADS)) {
  test(`a head with ${name} is refused, however it is split`, () => {
    const head = new ResponseHead(MAX_BYTES)
    for (let at = 0; at <= text.length; at++) {
      head.begin()
      assert.equal(readPieces(head, [text.slice(0, at), text.slice(at)]), BROKEN, `cut at ${at}`)
    }
  })
}

test('white space before a colon is skipped (RFC 9112 section 5.1), however the head is split', () => {
  const text = 'HTTP/1.1 200 OK\r\nContent-Length : 5\r\nX-A \t: b : c\r\n\r\n'
  const head = new ResponseHead(MAX_BYTES)
  for (let at = 0; at <= text.length; at++) {
    head.begin()
    assert.equal(readPieces(head, [text.slice(0, at), text.slice(at)]), text.length, `cut at ${at}`)
    assert.deepEqual(head.takeFields(), ['content-length', '5', 'x-a', 'b : c'])
  }
})

test('a head over its limit is reported before its end, in one piece and byte by byte', () => {
  const text = `HTTP/1.1 200 OK\r\nA: ${'x'.repeat(MAX_BYTES)}\r\n\r\n`
  const head = new ResponseHead(MAX_BYTES)
  for (const pieces of [[text], [...text], [text.slice(0, MAX_BYTES + 1)]]) {
    head.begin()
    assert.equal(readPieces(head, pieces), TOO_LARGE)
  }
  head.begin()
  assert.equal(readPieces(head, [text.slice(0, MAX_BYTES)]), MORE)
})

test('a status line without a reason, and line ends before it, are accepted', () => {
  const head = new ResponseHead(MAX_BYTES)
  for (const text of ['HTTP/1.1 204\r\n\r\n', 'HTTP/1.1 204 \r\n\r\n', '\r\nHTTP/1.1 204 No\xe9\r\n\r\n']) {
    head.begin()
    assert.equal(readPieces(head, [text]), text.length)
    assert.equal(head.status, 204)
    assert.deepEqual(head.takeFields(), [])
  }
})

test('nothing of one head leaks into the next', () => {
  const head = new ResponseHead(MAX_BYTES)
  head.begin()
  readPieces(head, ['HTTP/1.1 500 No', 'pe\r\nA: b\r\nC'])
  head.begin()
  assert.equal(readPieces(head, [HEAD]), HEAD.length)
  assert.equal(head.status, 200)
  assert.deepEqual(head.takeFields(), FIELDS)
})

/** The parsed form of a head. */
function read(head: ResponseHead, pieces: readonly string[]): object {
  head.begin()
  const end = readPieces(head, pieces)
  const { status, minor } = head
  return end >= 0 ? { end, status, minor, fields: head.takeFields() } : { end }
}

test('a head is parsed the same whatever heads came before it', () => {
  const statusLine = fc.constantFrom(
    'HTTP/1.1 200 OK',
    'HTTP/1.1 200',
    'HTTP/1.0 200 OK',
    'HTTP/1.1 404 Gone',
    'HTTP/1.1 20 OK',
  )
  const line = fc.constantFrom(
    ...['A: b\r\n', 'a:b\r\n', 'A: b \r\n', 'B:\r\n', 'Set-Cookie: a=b\r\n'],
    ...['A: b\n', 'A b\r\n', ' b\r\n', `X: ${'x'.repeat(300)}\r\n`],
  )
  const head = fc.tuple(statusLine, fc.array(line, { maxLength: 5 }), fc.nat(80))
  fc.assert(
    fc.property(fc.array(head, { maxLength: 30 }), (list) => {
      const used = new ResponseHead(MAX_BYTES)
      for (const [status, fields, cut] of list) {
        const text = `${status}\r\n${fields.join('')}\r\n`
        const pieces = [text.slice(0, cut), text.slice(cut)]
        assert.deepEqual(read(used, pieces), read(new ResponseHead(MAX_BYTES), pieces))
      }
    }),
    { numRuns: 500 },
  )
})
