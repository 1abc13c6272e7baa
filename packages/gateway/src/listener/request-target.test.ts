import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exchange } from '@sluice/core'
import type { ListenerSettings } from './listener.js'
import { applyTarget } from './request-target.js'

const SETTINGS: ListenerSettings = {
  trusted: null,
  health: false,
  strictPaths: false,
  headerBytes: 100,
  headers: 10,
  urlBytes: 20,
  bodyBytes: 100,
  connections: 10,
  bodyIdleMs: 1000,
}

function judge(path: string, query = '', settings = SETTINGS): { x: Exchange; code: string | null } {
  const x = new Exchange()
  return { x, code: applyTarget(x, path, query, settings)?.problem?.code ?? null }
}

test('the path is kept as received and in its canonical form', () => {
  const { x, code } = judge('/%61/../b', 'q=%20&r')
  assert.deepEqual([code, x.rawPath, x.path, x.query], [null, '/%61/../b', '/b', 'q=%20&r'])
})

test('a target that is refused has no canonical path, and is kept for the log', () => {
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
    const { x, code } = judge(path, query)
    assert.deepEqual([code, x.path, x.rawPath, x.query], [expected, '', path, query])
  }
})

test('path and query together may be as long as the listener accepts', () => {
  assert.equal(judge('/123456789', '1234567890').code, null)
})

test('a strict listener takes canonical paths only', () => {
  const strict = { ...SETTINGS, strictPaths: true }
  assert.equal(judge('/a/b', '', strict).code, null)
  for (const path of ['/a//b', '/a/./b', '/%61', '/a%2fb'])
    assert.equal(judge(path, '', strict).code, 'GW_BAD_REQUEST')
})
