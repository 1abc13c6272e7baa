import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browserRefusal } from './browser-guard.js'

const codeFor = (host: string | undefined, origin?: string): string | undefined =>
  browserRefusal({ host, origin }, 'admin.example.org')?.headers['x-gw-error']

test('addresses, localhost and the configured host are allowed, with and without a port', () => {
  for (const host of [
    '127.0.0.1',
    '127.0.0.1:9901',
    '[::1]:9901',
    '[::1]',
    'localhost:9901',
    'LOCALHOST',
    'admin.example.org:9901',
    'Admin.Example.org',
  ]) {
    assert.equal(codeFor(host), undefined, host)
  }
})

test('other, malformed and empty hosts are refused', () => {
  for (const host of [
    'evil.example',
    'evil.example:9901',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'localhost:99x',
    'a b',
    '[::1',
    '',
    undefined,
  ]) {
    assert.equal(codeFor(host), 'GW_ADMIN_HOST_REFUSED', host)
  }
})

test('any Origin is refused', () => {
  assert.equal(codeFor('127.0.0.1', 'http://127.0.0.1:9901'), 'GW_ADMIN_ORIGIN_REFUSED')
  assert.equal(codeFor('127.0.0.1', 'null'), 'GW_ADMIN_ORIGIN_REFUSED')
})
