import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentSchema, normalizeDocument } from '@sluice/config'
import { type DeprecatedKey, type DeprecatedKeys, MASK, type TSchema } from '@sluice/core'
import { catalog } from '@sluice/policies'

await catalog.load?.(() => true)

/** A deprecated key, and the function that puts an object with members into the place of its object. */
interface Renamed {
  readonly at: string
  readonly key: string
  readonly rule: DeprecatedKey
  readonly schema: TSchema
  around(object: object): unknown
}

function* renamedIn(schema: TSchema, at: string, around: (value: unknown) => unknown): Generator<Renamed> {
  for (const branch of [...(schema['anyOf'] ?? []), ...(schema['allOf'] ?? [])])
    yield* renamedIn(branch, at, around)
  const old: DeprecatedKeys = schema['deprecatedKeys'] ?? {}
  for (const [key, rule] of Object.entries(old)) yield { at, key, rule, schema, around }
  for (const [key, below] of Object.entries<TSchema>(schema['properties'] ?? {}))
    yield* renamedIn(below, `${at}.${key}`, (value) => around({ [key]: value }))
  const rest: unknown = Object.values(schema['patternProperties'] ?? {})[0] ?? schema['additionalProperties']
  if (typeof rest === 'object') yield* renamedIn(rest as TSchema, `${at}.x`, (value) => around({ x: value }))
  if (schema['items'] !== undefined) yield* renamedIn(schema['items'], `${at}[]`, (value) => around([value]))
}

const all = [
  ...renamedIn(documentSchema, 'document', (value) => value),
  ...[...catalog.values()].flatMap(({ name, schema }) => [
    ...renamedIn(schema, name, (value) => ({ policies: [{ id: 'p', use: name, with: value }] })),
  ]),
]

for (const { at, key, rule, schema, around } of all) {
  const { use, values = { [MASK]: MASK } } = typeof rule === 'string' ? { use: rule } : rule
  test(`${at}.${key} means ${use}, and the warning says so`, () => {
    assert.notEqual(schema['properties'][use], undefined, 'the new key exists')
    assert.equal(schema['properties'][key], undefined, 'the old key is not documented')
    for (const [old, current] of Object.entries(values)) {
      const was = normalizeDocument(around({ [key]: old }), catalog)
      const is = normalizeDocument(around({ [use]: current }), catalog)
      assert.deepEqual(was.value, is.value)
      assert.deepEqual(is.deprecations, [])
      const [warning, ...others] = was.deprecations
      assert.deepEqual(others, [])
      assert.equal(warning?.message, `'${key}' is deprecated`)
      assert.match(warning.remedy, new RegExp(`\\b${use}\\b`))
      assert.equal(was.writtenPath(warning.path).at(-1), key)
    }
  })
}

test('limits of rate-limit next to limit are added to it, in any order', () => {
  const limits = ['200/m', '300/h']
  for (const config of [
    { limit: '1/s', limits },
    { limits, limit: '1/s' },
  ]) {
    const policies = [{ id: 'p', use: 'rate-limit', with: config }]
    const { value, deprecations, writtenPath } = normalizeDocument({ policies }, catalog)
    const [policy] = (value as { policies: [{ with: object }] }).policies
    assert.deepEqual(policy.with, { limit: ['1/s', '200/m', '300/h'] })
    assert.deepEqual(
      deprecations.map(({ severity, message }) => [severity, message]),
      [['warning', "'limits' is deprecated"]],
    )
    const at = ['policies', 0, 'with', 'limit']
    assert.deepEqual(writtenPath([...at, 2]), ['policies', 0, 'with', 'limits', 1])
    assert.deepEqual(writtenPath([...at, 0]), ['policies', 0, 'with', 'limit'])
  }
})

test('the document and the policies have deprecated keys', () => {
  assert.ok(all.some(({ at }) => at.startsWith('document')))
  assert.ok(all.length > 30)
})
