import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UpstreamRequest } from '../transport/transport.js'
import { formatRequestHead } from './request-head.js'
import { WireUpload } from './wire-upload.js'

function format(overrides: Partial<UpstreamRequest>): string | null {
  return formatRequestHead({
    ...{ id: 'i-1', method: 'GET', path: '/a?b', host: 'shop.test', headers: [], body: null, upload: null },
    connectMs: 1000,
    ...overrides,
  })
}

test('a head is the line, Host, Connection, the fields and the framing', () => {
  const headers = ['accept', '*/*', 'x-name', 'Jos\xe9']
  assert.equal(
    format({ headers }),
    'GET /a?b HTTP/1.1\r\nhost: shop.test\r\nconnection: keep-alive\r\naccept: */*\r\nx-name: Jos\xe9\r\n\r\n',
  )
  assert.match(format({ method: 'HEAD' })!, /\r\nconnection: close\r\n/)
})

test('the framing matches the body', () => {
  const upload = (length: number): WireUpload => new WireUpload(length, () => {})
  assert.doesNotMatch(format({})!, /content-length|transfer-encoding/)
  assert.match(format({ method: 'POST' })!, /\r\ncontent-length: 0\r\n\r\n$/)
  assert.match(format({ method: 'POST', body: Buffer.from('abc') })!, /\r\ncontent-length: 3\r\n\r\n$/)
  assert.match(format({ method: 'PUT', upload: upload(7) })!, /\r\ncontent-length: 7\r\n\r\n$/)
  assert.match(format({ method: 'PUT', upload: upload(-1) })!, /\r\ntransfer-encoding: chunked\r\n\r\n$/)
})

test('anything that would change how the target parses the request is refused', () => {
  const refused: readonly Partial<UpstreamRequest>[] = [
    { path: '/a b' },
    { path: '/a\r\nx: y' },
    { path: '/\xe9' },
    { path: 'http://other/' },
    { path: '' },
    { method: 'GE T' },
    { method: '' },
    { host: 'a\r\nx: y' },
    { headers: ['x', 'a\r\ny: z'] },
    { headers: ['x', 'a\nb'] },
    { headers: ['x', 'a\0'] },
    { headers: ['x', '\u0100'] },
    { headers: ['x', '\u010a'] },
    { headers: ['x: y', 'a'] },
    { headers: ['', 'a'] },
    ...['content-length', 'expect', 'host', 'keep-alive', 'transfer-encoding', 'upgrade'].map((name) => ({
      headers: [name, '1'],
    })),
  ]
  // An earlier refusal or success must not affect the next check.
  for (const overrides of [...refused, ...refused]) {
    assert.equal(format(overrides), null, JSON.stringify(overrides))
    assert.notEqual(format({ headers: ['x', 'a', 'connection', 'close'] }), null)
  }
})

test('a Connection field of the exchange is ignored', () => {
  assert.doesNotMatch(format({ headers: ['connection', 'close'] })!, /close/)
})
