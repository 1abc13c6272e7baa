import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from '@sinclair/typebox'
import { definePolicy } from './policy.js'

const schema = Type.Object({
  limit: Type.Optional(Type.Integer({ default: 5 })),
  list: Type.Optional(Type.Array(Type.Object({ flag: Type.Boolean({ default: true }) }))),
  nested: Type.Optional(Type.Object({ name: Type.Optional(Type.String({ default: 'a' })) })),
  absent: Type.Optional(Type.String()),
})

test('the functions of a policy get a copy of the configuration with all defaults', () => {
  const seen: unknown[] = []
  const policy = definePolicy({
    name: 'p',
    summary: 'A test.',
    schema,
    secretNames(config) {
      seen.push(config)
      return []
    },
    compile(config) {
      seen.push(config)
      return null
    },
  })
  const written = { list: [{}], nested: {} }
  policy.compile(written as never, {} as never)
  policy.secretNames?.(written as never)
  assert.deepEqual(seen[0], { limit: 5, list: [{ flag: true }], nested: { name: 'a' } })
  assert.deepEqual(seen[1], seen[0])
  assert.deepEqual(written, { list: [{}], nested: {} })
  assert.equal(policy.warnings, undefined)
})

test('a value that is not an object is passed on as it is', () => {
  const policy = definePolicy({
    name: 'p',
    summary: '',
    schema,
    secretNames: (config) => [String(config)],
    compile: () => null,
  })
  assert.deepEqual(policy.secretNames?.('${env:X}' as never), ['${env:X}'])
})
