import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exchange } from '@sluice/core'
import type { ListenerSettings } from './listener.js'
import { applyTarget } from './request-target.js'

const SETTINGS: ListenerSettings = {
  trusted: null,
  proxyProtocol: false,
  allowHalfClose: false,
  forwardedHeader: 'x-forwarded-for',
  health: false,
  paths: 'canonical',
  http2: null,
  headerBytes: 100,
  headers: 10,
  urlBytes: 20,
  bodyBytes: 100,
  bodyBufferBytes: 65_536,
  connections: 10,
  connectionsPerClient: 10,
  keepAliveMs: 75_000,
  headTimeoutMs: 10_000,
  bodyIdleMs: 1000,
  minBodyRate: 240,
  minReadRate: 240,
}

function check(path: string, query = '', settings = SETTINGS): { x: Exchange; code: string | null } {
  const x = new Exchange()
  return { x, code: applyTarget(x, path, query, settings)?.problem?.code ?? null }
}

test('the path is kept as received and in its canonical form', () => {
  const { x, code } = check('/%61/../b', 'q=%20&r')
  assert.deepEqual([code, x.rawPath, x.path, x.query], [null, '/%61/../b', '/b', 'q=%20&r'])
})

test('a refused target has no canonical path, but is kept for the log', () => {
  for (const [path, query, expected] of [
    ['/a b', '', 'GW_BAD_REQUEST'],
    ['*', '', 'GW_BAD_REQUEST'],
    ['/%', '', 'GW_BAD_REQUEST'],
    ['/', 'a b', 'GW_BAD_REQUEST'],
    ['/', 'a#b', 'GW_BAD_REQUEST'],
    ['/', 'é', 'GW_BAD_REQUEST'],
    ['/', '\u007f', 'GW_BAD_REQUEST'],
    ['/12345678901', '1234567890', 'GW_URL_TOO_LONG'],
  ] as const) {
    const { x, code } = check(path, query)
    assert.deepEqual([code, x.path, x.rawPath, x.query], [expected, '', path, query])
  }
})

test('path and query together may be as long as the listener accepts', () => {
  assert.equal(check('/123456789', '1234567890').code, null)
})

test('a strict listener accepts only canonical paths', () => {
  const strict = { ...SETTINGS, paths: 'strict' as const }
  assert.equal(check('/a/b', '', strict).code, null)
  for (const path of [
    '/a//b',
    '/a/./b',
    '/%61',
    '/a%2fb',
    '/a%2Fb',
    '/a%5Cb',
    '/a;v',
    '/a%3Bv',
    '/%252e',
    '/%0A',
  ])
    assert.equal(check(path, '', strict).code, 'GW_BAD_REQUEST', path)
  for (const path of ['/caf%C3%A9', '/100%25', '/a%20b', '/.well-known/a'])
    assert.equal(check(path, '', strict).code, null, path)
})

test('path parameters are forwarded, but not matched', () => {
  for (const [path, matched, forwarded] of [
    ['/a;v=1/b;w', '/a/b', '/a;v=1/b;w'],
    ['/a%3bv', '/a', '/a%3Bv'],
    ['/;v/a', '/a', '/;v/a'],
    ['/a/;v=1', '/a/', '/a/;v=1'],
    ['/a;/../b', '/b', '/b'],
  ] as const) {
    const { x, code } = check(path)
    assert.deepEqual([code, x.path, x.forwardPath], [null, matched, forwarded], path)
  }
})

test('a dot segment that only some servers would recognize is refused', () => {
  for (const path of ['/a/..;/b', '/a/.;v', '/a/..%2fb', '/a%5C..', '/a%2F%2e%2e/b', '/..%3B/b'])
    assert.equal(check(path).code, 'GW_BAD_REQUEST', path)
})

test('a path is forwarded in its canonical form, or as received where that cannot be misread', () => {
  const asReceived = { ...SETTINGS, paths: 'as-received' as const }
  assert.equal(check('/%7E//b').x.forwardPath, '/~/b')
  assert.equal(check('/%7E//b', '', asReceived).x.forwardPath, '/%7E//b')
  assert.equal(check('/a/../b', '', asReceived).x.forwardPath, '/b')
  assert.equal(check('/a%2fb').x.hasEncodedSlash, true)
  assert.equal(check('/a%20b').x.hasEncodedSlash, false)
})
