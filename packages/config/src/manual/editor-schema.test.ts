import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { editorSchema } from '../index.js'
import { SAMPLE_CATALOG } from '../testing/sample-catalog.js'

const GOLDEN = join(import.meta.dirname, '..', '..', 'golden')
const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false })
const validate = ajv.compile(editorSchema(SAMPLE_CATALOG))
const sound = readdirSync(GOLDEN).filter((name) => name.endsWith('.plan.json'))

for (const name of sound.map((file) => file.replace('.plan.json', '.yaml'))) {
  test(`an editor finds nothing wrong with ${name}`, () => {
    const document: unknown = parse(readFileSync(join(GOLDEN, name), 'utf8'))
    assert.ok(validate(document), JSON.stringify(validate.errors, null, 1))
  })
}

const WRONG: readonly (readonly [string, string])[] = [
  ['an unknown key', '{ version: 1, routs: [] }'],
  ['a word that is none of the list', '{ version: 1, listeners: [{ address: ":1", engine: uvs }] }'],
  ['two destinations', '{ version: 1, routes: [{ id: a, upstream: u, respond: {} }] }'],
  ['no destination', '{ version: 1, routes: [{ id: a }] }'],
  [
    'a policy that there is not',
    '{ version: 1, routes: [{ id: a, respond: {}, policies: [{ use: nothing }] }] }',
  ],
  [
    'a parameter that a policy has not',
    '{ version: 1, policies: [{ id: m, use: marker, with: { txt: a } }] }',
  ],
  ['a number out of its range', '{ version: 1, workers: 0 }'],
]

for (const [what, text] of WRONG) {
  test(`an editor finds ${what}`, () => assert.equal(validate(parse(text)), false))
}

test('an editor accepts old keys and values', () => {
  const text = '{ version: 1, upstreams: { u: { targets: [], spillBelow: 5%, http2: auto } } }'
  assert.ok(validate(parse(text)), JSON.stringify(validate.errors))
})

test('an editor accepts x- keys in objects with fixed keys only', () => {
  const at = (key: string) =>
    `{ version: 1, ${key}: [1], listeners: [{ address: ":1", ${key}: 1 }], policies: [{ id: m, use: marker, with: { ${key}: 1 } }] }`
  assert.ok(validate(parse(at('x-note'))), JSON.stringify(validate.errors))
  assert.equal(validate(parse(at('y-note'))), false)
})

test('an editor takes references wherever a value may stand', () => {
  const marker = 'policies: [{ id: m, use: marker, with: { level: "${env:L}" } }]'
  const text = `{ version: 1, workers: "\${env:N:-2}", listeners: [{ address: "\${env:A}", health: "\${env:H}" }], ${marker} }`
  assert.ok(validate(parse(text)), JSON.stringify(validate.errors))
})
