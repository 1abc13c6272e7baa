import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SensitiveNames } from './sensitive-names.js'

test('secret names are recognized completely or by a part, in any case', () => {
  const names = new SensitiveNames(['X-Partner'])
  const secrets = [
    'Authorization',
    'proxy-authorization',
    'Set-Cookie',
    'X-Vault-Token',
    'client_secret',
    'PASSWORD',
    'Ocp-Apim-Subscription-Key',
    'x-functions-key',
    'user[key]',
    'x-auth',
    'PHPSESSID',
    'passphrase',
    'SAMLResponse',
  ]
  for (const name of [...secrets, 'key', 'SIG', 'x-partner', 'jwt', 'session_id'])
    assert.ok(names.has(name), name)
  const plain = [
    '',
    'keyboard',
    'signal',
    'inside',
    'monkey',
    'content-type',
    'page',
    'x-partner-id',
    'compass',
    'idempotency-key',
    'Sec-WebSocket-Key',
    'key-count',
    'author',
  ]
  for (const name of plain) assert.ok(!names.has(name), name)
})

test('results do not depend on earlier lookups', () => {
  const fresh = (name: string) => new SensitiveNames(['mine']).has(name)
  const asked = new SensitiveNames(['mine'])
  for (let i = 0; i < 3000; i++) assert.equal(asked.has(`x-${i}-token`), true)
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.constantFrom('MINE', 'mine', 'Key', 'keys', 'toKen', '__proto__')),
      (name) => {
        assert.equal(asked.has(name), fresh(name))
        assert.equal(asked.has(name), fresh(name.toLowerCase()))
      },
    ),
  )
})
