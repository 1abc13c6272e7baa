import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { RecordDecryptor } from './record-decryptor.js'
import { RecordPrivacy } from './record-privacy.js'
import { type BodyRecord, options, redactedBody, rule } from './testing.js'

const SECRET = 'a secret of the test'

function encrypted(text: string, ...rules: readonly ReturnType<typeof rule>[]): string {
  return new RecordPrivacy(options(...rules)).redacted(JSON.stringify({ body: { req_in: { text } } }))
}

function bodyOf(line: string | null): string {
  return (JSON.parse(line!) as BodyRecord).body.req_in.text
}

test('a hash is the HMAC of the decoded value, the same everywhere, with the key ID', () => {
  const hash = rule({ names: ['id'] }, { do: 'hash' })
  const expected = createHmac('sha256', SECRET).update('ä 1').digest('base64url')
  const written = [
    '{"id":"ä 1"}',
    '{"id":"\\u00e4 1"}',
    'id=%C3%A4+1',
    '<id>&#228; 1</id>',
    '<id><![CDATA[ä 1]]></id>',
  ]
  for (const text of written) assert.ok(redactedBody(text, hash).includes(`~hmac~k1~${expected}~`), text)
})

test('encryption differs each time, and decryption restores the body', () => {
  const rules = [
    rule({ names: ['card', 'id'] }, { do: 'encrypt' }),
    rule({ type: 'email' }, { do: 'encrypt' }),
  ]
  const bodies = [
    '{"id":"x\\"\\u00e4","card":{"a":[1, 2]},"n":1,"m":"see a@b.com \\n"}',
    '{"id" : 12.50, "card":null}',
    '{"in":"{\\"card\\":5,\\"id\\":\\"q\\\\\\"\\"}"}',
    'id=a%40b%2&n=1',
    '<a id="&lt;1"><card><x>1</x></card>a@b.com</a>',
  ]
  for (const body of bodies) {
    const [one, other] = [encrypted(body, ...rules), encrypted(body, ...rules)]
    assert.notEqual(one, other)
    JSON.parse(one)
    const decryptor = new RecordDecryptor(['another secret', SECRET])
    assert.equal(bodyOf(decryptor.line(one)), body)
    assert.deepEqual(decryptor.unopenedKeys, [])
  }
})

test('any text comes back from its encryption', () => {
  const rules = [rule({ names: ['x'] }, { do: 'encrypt' })]
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const line = encrypted(JSON.stringify({ x: text }), ...rules)
      assert.equal(JSON.parse(bodyOf(new RecordDecryptor([SECRET]).line(line))).x, text)
    }),
  )
})

test('the first key is used, and values of the keys before it are still opened', () => {
  const before = options(rule({ names: ['x'] }, { do: 'encrypt' }))
  const after = { ...before, keys: [{ id: 'k2', secret: 'the secret that came next' }, ...before.keys] }
  const record = JSON.stringify({ vars: { x: 'v' } })
  const [old, recent] = [before, after].map((one) => new RecordPrivacy(one).redacted(record))
  assert.match(old!, /~enc~k1~/)
  assert.match(recent!, /~enc~k2~/)
  const decryptor = new RecordDecryptor(after.keys.map((key) => key.secret))
  assert.deepEqual(
    [old, recent].map((line) => JSON.parse(decryptor.line(line!)!).vars.x),
    ['v', 'v'],
  )
})

test('a value that no key opens stays, and its key is named: forged, damaged, or of another key id', () => {
  const [line] = [encrypted('{"x":"v"}', rule({ names: ['x'] }, { do: 'encrypt' }))]
  const forged = `~enc~mine~${'A'.repeat(50)}~`
  for (const text of [
    forged,
    bodyOf(line!).replace('~k1~', '~k9~'),
    bodyOf(line!).replace(/(?<=k1~)./, (first) => (first === '-' ? 'A' : '-')),
  ]) {
    const decryptor = new RecordDecryptor([SECRET])
    const record = JSON.stringify({ body: { req_in: { text } } })
    assert.equal(decryptor.line(record), record)
    assert.equal(decryptor.unopenedKeys.length, 1)
    assert.equal(decryptor.decrypted, 0)
  }
  assert.equal(new RecordDecryptor([SECRET]).line('{"cut'), null)
})

test('a client cannot hide a value by writing it as if it were encrypted', () => {
  const body = '{"a":"~enc~k1~a@b.com~","password":"~hmac~k1~secret~"}'
  const redacted = redactedBody(body, rule({ names: ['password'] }), rule({ type: 'email' }))
  assert.equal(redacted, '{"a":"~enc~***~","password":"***"}'.replace('~enc~***', '~enc~k1~***'))
})
