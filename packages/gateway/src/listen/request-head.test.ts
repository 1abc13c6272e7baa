import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exchange } from '@sluice/core'
import fc from 'fast-check'
import type { ListenerSettings } from './listener.js'
import { ASCII_FIELDS, RequestHead } from './request-head.js'

const SETTINGS: ListenerSettings = {
  trusted: null,
  proxyProtocol: false,
  allowHalfClose: false,
  forwardedHeader: 'x-forwarded-for',
  health: false,
  paths: 'canonical',
  http2: null,
  headerBytes: 200,
  headers: 8,
  urlBytes: 100,
  bodyBytes: 1000,
  bodyBufferBytes: 65_536,
  connections: 10,
  connectionsPerClient: 10,
  keepAliveMs: 75_000,
  headTimeoutMs: 10_000,
  bodyIdleMs: 1000,
  minBodyRate: 240,
  minReadRate: 240,
}

interface Checked {
  readonly x: Exchange
  readonly head: RequestHead
  /** The code of the refusal, or null. */
  readonly code: string | null
}

/** Checks lines written as `name: value`, with one Host unless `lines` have their own. */
function check(lines: readonly string[], method = 'GET', head = new RequestHead()): Checked {
  const all = lines.some((line) => line.startsWith('host')) ? lines : ['host: a.example', ...lines]
  head.begin()
  for (const line of all) {
    const colon = line.indexOf(':')
    head.add(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  const x = Object.assign(new Exchange(), { method })
  return { x, head, code: head.apply(x, SETTINGS)?.problem?.code ?? null }
}

test('end-to-end fields are kept in order; host, framing and hop-by-hop fields are not forwarded', () => {
  const { x, code } = check(
    ['b: 1', 'te: trailers', 'content-length: 3', 'a: 2', 'keep-alive: 5', 'b: 3', 'expect: 100-continue'],
    'POST',
  )
  assert.equal(code, null)
  assert.deepEqual(x.headers, ['b', '1', 'a', '2', 'b', '3'])
  assert.equal(x.contentLength, 3)
})

test('nothing of one head leaks into the next', () => {
  const head = new RequestHead()
  const bad = ['transfer-encoding: chunked', 'content-length: 1', 'connection: close', 'ü: 1', 'host: b']
  assert.notEqual(check(bad, 'POST', head).code, null)
  const { x, code } = check(['a: 1'], 'GET', head)
  assert.equal(code, null)
  assert.deepEqual([x.headers, x.contentLength, x.host, head.wantsClose], [['a', '1'], 0, 'a.example', false])
})

test('the length of a body is one number, however often it is repeated', () => {
  assert.equal(check(['content-length: 5', 'content-length: 5']).x.contentLength, 5)
  for (const lines of [['5', '6'], ['5', '05'], ['5, 5'], ['+5'], [''], ['9'.repeat(16)]])
    assert.equal(check(lines.map((value) => `content-length: ${value}`)).code, 'GW_BAD_REQUEST', lines.join())
})

test('the only accepted transfer coding is a single chunked, and never with a length', () => {
  assert.equal(check(['transfer-encoding: Chunked'], 'POST').x.contentLength, -1)
  for (const coding of ['gzip, chunked', 'chunked, chunked', 'identity', '', 'xchunked', 'chunked;a'])
    assert.equal(check([`transfer-encoding: ${coding}`]).code, 'GW_CODING_NOT_SUPPORTED', coding)
  const twice = ['transfer-encoding: chunked', 'transfer-encoding: chunked']
  assert.equal(check(twice).code, 'GW_CODING_NOT_SUPPORTED')
  for (const length of ['0', '5', 'x'])
    assert.equal(check(['transfer-encoding: chunked', `content-length: ${length}`]).code, 'GW_BAD_REQUEST')
})

test('the host is converted to lower case, without its port and a trailing dot', () => {
  const hosts = [
    ['A.Example', 'a.example', 'A.Example'],
    ['a.example:8080', 'a.example', 'a.example:8080'],
    ['a.example:', 'a.example', 'a.example:'],
    ['a.example.', 'a.example', 'a.example'],
    ['a.example.:65535', 'a.example', 'a.example:65535'],
    ['127.0.0.1.:1', '127.0.0.1', '127.0.0.1:1'],
    ['[::1]', '[::1]', '[::1]'],
    ['[2001:DB8:0::1]:443', '[2001:db8::1]', '[2001:db8::1]:443'],
    ['under_score', 'under_score', 'under_score'],
  ] as const
  for (const [written, host, authority] of hosts) {
    const { x, code } = check([`host: ${written}`])
    assert.deepEqual([code, x.host, x.authority], [null, host, authority])
  }
})

test('an ambiguous host is refused', () => {
  const hosts = [
    '',
    ':80',
    'a b',
    'a/b',
    'u@a',
    'a,b',
    'a:80:90',
    'a:x',
    'a:123456',
    'a:65536',
    '.',
    'a..',
    '.a',
    'a..b',
    'a.:.',
    'a%2e',
    'a\tb',
    '[::1]. ',
    '[fe80::1%25eth0]',
    'http://a',
    '[::1',
    '[]',
    '[::g]',
    '[::1]x',
    'a?',
    'é',
  ]
  for (const host of hosts) assert.equal(check([`host: ${host}`]).code, 'GW_BAD_REQUEST', host)
  assert.equal(check(['host: a', 'host: a']).code, 'GW_BAD_REQUEST')
  const head = new RequestHead()
  head.begin()
  const x = Object.assign(new Exchange(), { method: 'GET' })
  assert.equal(head.apply(x, SETTINGS)?.problem?.code, 'GW_BAD_REQUEST')
})

test('an accepted host has only characters of a name or an address, whatever was sent', () => {
  const unit = fc.constantFrom('a', 'Z', '0', '.', '-', ':', '[', ']', '@', '/', '\\', '#', '%', ' ', '9')
  fc.assert(
    fc.property(
      fc.array(unit, { maxLength: 8 }).map((units) => units.join('')),
      (host) => {
        const { x, code } = check([`host: ${host}`])
        if (code === null) assert.match(x.host, /^([a-z0-9._-]+|\[[0-9a-f:.]{2,}\])$/)
        else assert.equal(x.host, '')
      },
    ),
    { numRuns: 1000 },
  )
})

test('methods: tokens are accepted; TRACE, CONNECT and lower case are refused; other texts are malformed', () => {
  for (const method of ['GET', 'PATCH', 'PROPFIND', 'M-SEARCH'])
    assert.equal(check([], method).code, null, method)
  for (const method of ['TRACE', 'CONNECT', 'trace', 'Connect', 'post', 'gET', 'propfind'])
    assert.equal(check([], method).code, 'GW_METHOD_NOT_SUPPORTED', method)
  for (const method of ['', 'G T', 'GÉT', 'G/'])
    assert.equal(check([], method).code, 'GW_BAD_REQUEST', method)
})

test('names and values outside the grammar are refused', () => {
  for (const line of [': 1', 'a b: 1', 'ä: 1', 'a: ĉ', 'a: \u0000', 'a: x\u007f', 'a: b\rc'])
    assert.equal(check([line]).code, 'GW_BAD_REQUEST', JSON.stringify(line))
})

test('bytes from 0x80 on are part of a value, unless the engine does not deliver them unchanged', () => {
  assert.deepEqual(check(['a: é']).x.headers, ['a', 'é'])
  const ascii = new RequestHead(ASCII_FIELDS)
  for (const value of ['é', '\ufffd', '\u0080'])
    assert.equal(check([`a: ${value}`], 'GET', ascii).code, 'GW_BAD_REQUEST', JSON.stringify(value))
})

test('lookalikes of fields that frame or describe a body, or belong to a connection, are dropped', () => {
  const lookalikes = [
    'content_length',
    'transfer_encoding',
    'transfer.encoding',
    'content!length',
    'content_type',
  ]
  const others = [
    'content_encoding',
    'keep_alive',
    'proxy_connection',
    'proxy|authorization',
    "transfer'encoding",
  ]
  for (const name of [...lookalikes, ...others]) {
    const { x, code } = check([`${name}: 1`, 'x_user: 1'], 'POST')
    assert.deepEqual([code, x.headers, x.contentLength], [null, ['x_user', '1'], 0], name)
  }
  for (const name of ['content_lengths', 'x-content_length', 'contentlength'])
    assert.deepEqual(check([`${name}: 1`]).x.headers, [name, '1'])
})

test('the limits on lines and bytes are exact', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `a${i}: 1`)
  assert.equal(check(lines(7)).code, null)
  assert.equal(check(lines(8)).code, 'GW_HEADERS_TOO_LARGE')
  // The Host line counts 17 bytes, this one its value and 5 more.
  assert.equal(check([`a: ${'x'.repeat(200 - 17 - 5)}`]).code, null)
  assert.equal(check([`a: ${'x'.repeat(200 - 17 - 4)}`]).code, 'GW_HEADERS_TOO_LARGE')
})

test('fields that the client declares hop-by-hop are removed, except those that identify it', () => {
  const { x, head } = check([
    'connection: X-Drop, authorization',
    'x-drop: 1',
    'connection: close',
    'authorization: b',
    'x: 2',
  ])
  assert.deepEqual(x.headers, ['authorization', 'b', 'x', '2'])
  assert.equal(head.wantsClose, true)
  assert.equal(check(['connection: keep-alive']).head.wantsClose, false)
})

test('a value of five characters looks like "close" to the native parser', () => {
  for (const [value, looks] of [
    ['close', true],
    ['x-abc', true],
    ['Close, a', false],
  ] as const)
    assert.equal(check([`connection: ${value}`]).head.looksClosing, looks)
})

test('an upgrade is refused unless it is optional', () => {
  const codeOf = (...lines: string[]) => check(lines).code
  for (const protocol of ['tunnel/1', 'SPDY/3.1'])
    assert.equal(codeOf('connection: Upgrade', `upgrade: ${protocol}`), 'GW_UPGRADE_NOT_SUPPORTED', protocol)
  assert.equal(codeOf('connection: Upgrade', 'upgrade: h2c', 'upgrade: tcp'), 'GW_UPGRADE_NOT_SUPPORTED')
  assert.equal(codeOf('upgrade: websocket'), 'GW_UPGRADE_NOT_SUPPORTED')
  // A handshake is accepted or refused by the route.
  for (const protocol of ['websocket', 'WebSocket', 'h2c, websocket'])
    assert.equal(codeOf('connection: Upgrade', `upgrade: ${protocol}`), null, protocol)
  for (const protocol of ['h2c', 'H2C', 'h2,h2c', 'TLS/1.2, HTTP/2.0', ''])
    assert.equal(codeOf('connection: keep-alive, upgrade', `upgrade: ${protocol}`), null, protocol)
  // Upgrade does not apply to this hop unless Connection names it.
  assert.equal(codeOf('upgrade: tunnel/1'), null)
})
