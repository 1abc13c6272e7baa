import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyConfig } from './key-schema.js'
import { loadKey } from './load-key.js'

type Encoding = NonNullable<KeyConfig['secretEncoding']>

test('a secret has only one valid spelling', () => {
  const load = (secret: string, secretEncoding: Encoding) =>
    loadKey({ secret, secretEncoding }, 'sign').key.export().toString()
  assert.equal(load('QUI=', 'base64'), 'AB')
  assert.equal(load('QUI', 'base64url'), 'AB')
  assert.equal(load('4a4B', 'hex'), 'JK')
  assert.equal(load('QUJ=', 'utf8'), 'QUJ=')
  const loose: readonly [Encoding, readonly string[]][] = [
    ['base64', ['QUJ=', 'QUI', 'QUI_', 'QU I=', 'QUI=QUI=', '']],
    ['base64url', ['QUJ', 'QUI=', 'QU+I', '']],
    ['hex', ['4', '4g', '']],
    ['utf8', ['']],
  ]
  for (const [encoding, texts] of loose) {
    for (const text of texts) {
      assert.throws(() => load(text, encoding), {
        message: `has a secret that is empty or not valid ${encoding}`,
      })
    }
  }
})
