import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAgainstDraft, type DialectOptions, openDialect } from './dialect.js'
import { findViolations } from './violations.js'

const OPTIONS: DialectOptions = {
  formats: true,
  coerce: false,
  removeAdditional: false,
  applyDefaults: false,
  allErrors: true,
}

const CASES: readonly (readonly [object, unknown, string])[] = [
  [{ properties: { a: {} }, additionalProperties: false }, { b: 1 }, "must not have the property 'b'"],
  [
    { additionalProperties: false },
    { 'a\u001b[31m\u202e': 1 },
    "must not have the property 'a\\u{1b}[31m\\u{202e}'",
  ],
  [
    { additionalProperties: false },
    { ['x'.repeat(500)]: 1 },
    `must not have the property '${'x'.repeat(64)}…'`,
  ],
  [{ enum: ['a', 1, null, true] }, 'c', "must be one of 'a', 1, null, true"],
  [{ 'sluice:enum': ['a', { b: 1 }, [2]] }, 'c', "must be one of 'a', an object, a list"],
  [
    { enum: Array.from({ length: 50 }, (_, i) => i) },
    'c',
    `must be one of ${Array.from({ length: 20 }, (_, i) => i).join(', ')} and 30 more`,
  ],
  [{ const: 'a' }, 'c', "must be 'a'"],
  [{ const: 5 }, 'c', 'must be 5'],
  [{ required: ['a'] }, {}, "must have required property 'a'"],
]

for (const [schema, value, expected] of CASES) {
  test(`a violation names the property or the allowed values: ${expected.slice(0, 60)}`, async () => {
    const ajv = await openDialect('2020-12', OPTIONS, false)
    const [found] = findViolations(ajv.compile(schema), value, { location: 'body', most: 10 })
    assert.equal(found, `body ${expected}`)
  })
}

test('unevaluated properties and names are named', async () => {
  const ajv = await openDialect('2020-12', OPTIONS, true)
  const all = (schema: object) =>
    findViolations(ajv.compile(schema), { b: 1 }, { location: '', most: 10 }).join()
  assert.match(all({ 'sluice:track': true, unevaluatedProperties: false }), /must not have the property 'b'/)
  assert.match(all({ propertyNames: { maxLength: 0 } }), /must not have a property with the name 'b'/)
})

const MISTAKES: readonly (readonly [object, string])[] = [
  [
    { type: 'objct' },
    "/type must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string', not 'objct'",
  ],
  [{ properties: { a: { minLength: 'x' } } }, "/properties/a/minLength must be integer, not 'x'"],
  [{ required: 'a' }, "/required must be array, not 'a'"],
  [{ properties: [] }, '/properties must be object, not a list'],
  [{ enum: 'a' }, "/enum must be array, not 'a'"],
]

for (const [schema, expected] of MISTAKES) {
  test(`a mistake in a schema is explained: ${JSON.stringify(schema)}`, async () => {
    await assert.rejects(checkAgainstDraft(schema, '2020-12', OPTIONS), { message: expected })
  })
}
