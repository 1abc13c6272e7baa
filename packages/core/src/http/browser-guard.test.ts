import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browserObjection } from './browser-guard.js'

const objection = (host: string | undefined, origin?: string) =>
  browserObjection({ host, origin }, 'admin.example.org')

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
    assert.equal(objection(host), null, host)
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
    assert.equal(objection(host), 'host', host)
  }
})

test('any Origin is refused', () => {
  assert.equal(objection('127.0.0.1', 'http://127.0.0.1:9901'), 'origin')
  assert.equal(objection('127.0.0.1', 'null'), 'origin')
})
