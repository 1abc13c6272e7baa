import assert from 'node:assert/strict'
import { test } from 'node:test'
import { framingOf } from '../../upstream/http1/response-framing.js'
import { type ReceivedHeads, ResponseReader } from '../../upstream/http1/response-reader.js'
import type { WireAttempt } from '../../upstream/http1/wire-attempt.js'
import { ReceivedHead } from '../../upstream/transport/received-head.js'
import type { Failure } from '../../upstream/transport/transport.js'
import { HeadCache } from './head-cache.js'

/** Returns what a reader reports for a response. */
interface Logged {
  head: ReceivedHead | null
  body: string
  isKept: boolean | null
  failure: Failure | null
}

function read(headCache: ReceivedHeads, pieces: readonly string[], method = 'GET'): Logged {
  const reported: Logged = { head: null, body: '', isKept: null, failure: null }
  const reader = new ResponseReader(
    {
      onKeepAlive() {},
      onComplete: (isKept) => {
        reported.isKept = isKept
      },
      onFailure: (failure) => {
        reported.failure = failure
      },
    },
    { maxHeaderBytes: 2000, headCache },
  )
  const observer = {
    onHead: (head: ReceivedHead) => {
      reported.head = head
    },
    onData: (chunk: Uint8Array) => {
      reported.body += Buffer.from(chunk).toString('latin1')
    },
  }
  const attempt = { observer, isOver: false, isPaused: false } as unknown as WireAttempt
  reader.begin(method)
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, 'latin1')
    reader.read(bytes, 0, bytes.length, attempt)
  }
  return reported
}

const HEAD = 'HTTP/1.1 200 OK\r\nServer: a\r\nDate: now\r\nX-A: 1\r\nContent-Length: 5\r\n\r\n'
const FIELDS = ['server', 'a', 'date', 'now', 'x-a', '1', 'content-length', '5']

test('an identical head is not parsed again, and gives the same result', () => {
  const cache: ReceivedHeads = new HeadCache(8)
  const first = read(cache, [`${HEAD}hello`])
  const second = read(cache, [`${HEAD}olleh`])
  assert.deepEqual(first.head!.fields, FIELDS)
  assert.equal(second.head, first.head)
  assert.deepEqual([first.body, second.body, second.isKept], ['hello', 'olleh', true])
  assert.equal(second.head!.length, 5)
  assert.deepEqual(second.head!.forwardedFields(), ['server', 'a', 'x-a', '1'])
})

test('changing the fields of one response does not change those of the next', () => {
  const cache: ReceivedHeads = new HeadCache(8)
  read(cache, [`${HEAD}hello`])
    .head!.forwardedFields()
    .push('x-secret', '1')
  const fields = read(cache, [`${HEAD}hello`]).head!.forwardedFields()
  assert.deepEqual(fields, ['server', 'a', 'x-a', '1'])
})

test('a head that differs in one byte, or has no end yet, is read', () => {
  const cache: ReceivedHeads = new HeadCache(8)
  const first = read(cache, [`${HEAD}hello`])
  const other = read(cache, [`${HEAD.replace('X-A: 1', 'X-A: 2')}hello`])
  assert.deepEqual(other.head!.forwardedFields(), ['server', 'a', 'x-a', '2'])
  // As long as the read that contained the cached head, but without an empty line at the same position.
  const longer = read(cache, [`${HEAD.slice(0, -2)}X: 1\r\n\r`, '\nhello'])
  assert.deepEqual(longer.head!.fields, [...FIELDS, 'x', '1'])
  const cut = read(cache, [HEAD.slice(0, 40), HEAD.slice(40), 'hello'])
  assert.notEqual(cut.head, first.head)
  assert.deepEqual([cut.head!.fields, cut.body, cut.isKept], [FIELDS, 'hello', true])
})

test('a cached head is interpreted for each method and status as a parsed one is', () => {
  const cache: ReceivedHeads = new HeadCache(8)
  const sized = `${HEAD}hello`
  read(cache, [sized])
  const toHead = read(cache, [HEAD.padEnd(HEAD.length, ' ')], 'HEAD')
  assert.deepEqual([toHead.body, toHead.isKept], ['', false])
  const closing = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'
  assert.deepEqual([read(cache, [closing]).isKept, read(cache, [closing]).isKept], [false, false])
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: 1\r\n\r\n'
  for (let i = 0; i < 2; i++) {
    const { body, isKept } = read(cache, [chunked])
    assert.deepEqual([body, isKept], ['ok', true])
  }
  const hinted = `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${sized}`
  for (let i = 0; i < 2; i++) assert.equal(read(cache, [hinted]).body, 'hello')
})

test('the rest of a head that arrived in two pieces is not mistaken for a head', () => {
  const cache: ReceivedHeads = new HeadCache(8)
  const rest = `${HEAD.slice(40)}hello`
  assert.equal(read(cache, [HEAD.slice(0, 40), rest]).body, 'hello')
  assert.equal(read(cache, [rest]).failure?.code, 'GW_UPSTREAM_INVALID')
})

test('a refused head is refused again', () => {
  const cache: ReceivedHeads = new HeadCache(8)
  const both = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok'
  for (let i = 0; i < 2; i++) assert.equal(read(cache, [both]).failure?.code, 'GW_UPSTREAM_INVALID')
})

test('a long head is not cached, and a different head replaces a cached one', () => {
  const cache: ReceivedHeads = new HeadCache(8)
  const made = { head: new ReceivedHead(200, []), framing: framingOf([], 1)! }
  const isCached = (bytes: Buffer): boolean => cache.find(bytes, 0, bytes.length) !== null
  const keep = (bytes: Buffer): void => cache.keep(bytes.length, { bytes, ...made })
  const long = Buffer.alloc(1025, 'a')
  keep(long)
  assert.ok(!isCached(long))
  const [first, second] = [Buffer.from('head 1'), Buffer.from('head 2')]
  keep(first)
  assert.deepEqual([isCached(first), isCached(second)], [true, false])
  keep(second)
  assert.deepEqual([isCached(first), isCached(second)], [false, true])
  // The cache keeps a copy.
  second.fill('x')
  assert.ok(isCached(Buffer.from('head 2')))
})
