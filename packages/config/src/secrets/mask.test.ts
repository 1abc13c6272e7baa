import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TSchema, Type } from '@sinclair/typebox'
import { maskSecrets } from './mask.js'

const secret = Type.String({ secret: true })

test('a secret is masked in mappings, lists, maps and unions', () => {
  const schema = Type.Object({
    one: secret,
    list: Type.Array(Type.Object({ deep: secret, plain: Type.String() })),
    map: Type.Record(Type.String(), secret),
    either: Type.Union([
      Type.Object({ kind: Type.Literal('a'), value: Type.String() }),
      Type.Object({ value: secret }),
    ]),
    whole: Type.Object({ a: Type.Number() }, { secret: true }),
  })
  const value = {
    one: 's',
    list: [{ deep: 's', plain: 'p' }],
    map: { a: 's' },
    either: { kind: 'a', value: 's' },
    whole: { a: 1 },
  }
  assert.deepEqual(maskSecrets(schema, value), {
    one: '***',
    list: [{ deep: '***', plain: 'p' }],
    map: { a: '***' },
    either: { kind: 'a', value: '***' },
    whole: '***',
  })
})

test('a recursive schema is followed', () => {
  const schema = Type.Recursive(
    (self) => Type.Object({ password: Type.Optional(secret), next: Type.Optional(self) }),
    {
      $id: 'node',
    },
  )
  const value = { password: 's', next: { password: 's', next: { password: 's' } } }
  assert.ok(!JSON.stringify(maskSecrets(schema, value)).includes('"s"'))
})

test('what a reference of the schema means and cannot be found is masked', () => {
  const schema = { type: 'object', properties: { a: { $ref: 'elsewhere' } } } as unknown as TSchema
  assert.deepEqual(maskSecrets(schema, { a: 'x', b: 'y' }), { a: '***', b: 'y' })
})

test('references are shown, null stays null', () => {
  assert.equal(maskSecrets(secret, '${env:A}${file:b}'), '${env:A}${file:b}')
  assert.equal(maskSecrets(secret, '$${env:A}'), '***')
  assert.equal(maskSecrets(secret, null), null)
})
