import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isIssue } from '../diagnostic/issue.js'
import { isLoopback, parseAddress } from './address.js'

test('an address is a host and a port', () => {
  assert.deepEqual(parseAddress('127.0.0.1:8080'), {
    address: '127.0.0.1:8080',
    host: '127.0.0.1',
    port: 8080,
  })
  assert.deepEqual(parseAddress('[::1]:0'), { address: '[::1]:0', host: '::1', port: 0 })
  assert.deepEqual(parseAddress('LocalHost:1'), { address: 'localhost:1', host: 'localhost', port: 1 })
})

test('no host and a star mean every IPv4 address', () => {
  for (const text of [':8080', '*:8080']) {
    assert.deepEqual(parseAddress(text), { address: '0.0.0.0:8080', host: '0.0.0.0', port: 8080 })
  }
})

test('everything else is refused with a remedy', () => {
  const texts = [
    '',
    '8080',
    'host',
    'host:',
    'host:x',
    'host:65536',
    '::1:80',
    '[::1]',
    '[::1%lo]:80',
    'a b:80',
    'http://a:80',
  ]
  for (const text of [
    ...texts,
    '256.0.0.1:80',
    '127.1:80',
    'a..b:80',
    '-a:80',
    '[127.0.0.1]:80',
    '${env:HOST}:80',
  ]) {
    assert.ok(isIssue(parseAddress(text)), text)
  }
})

test('only addresses of this machine are loopback', () => {
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) assert.ok(isLoopback(host), host)
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', 'localhost.example.org'])
    assert.ok(!isLoopback(host), host)
})

test('for a port alone and a URL the message says what is missing or too much', () => {
  const remedyOf = (text: string) => (parseAddress(text) as { readonly remedy: string }).remedy
  assert.equal(remedyOf('8080'), 'write 127.0.0.1:8080 for local access only, or :8080 for all addresses')
  assert.equal(remedyOf('https://a:8443/'), 'remove the scheme: a:8443; tls: enables https')
  assert.equal(remedyOf('localhost'), 'add a port, for example localhost:8080')
  assert.equal(remedyOf('127.0.0.1:127080'), 'the port must be from 0 to 65535')
})
