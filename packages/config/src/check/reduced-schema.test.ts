import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { parse } from 'yaml'
import { isMapping } from '../diagnostic/document-path.js'
import { documentSchema } from '../schema/document.js'
import { reduceSchema } from './reduced-schema.js'
import { satisfiesLarge, schemaErrors } from './validator.js'

const GOLDEN = fileURLToPath(new URL('../../golden/', import.meta.url))

function parsed(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return null
  }
}

const DOCUMENTS = readdirSync(GOLDEN)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => parsed(readFileSync(GOLDEN + name, 'utf8')))

/** Of this one the whole is never compiled. */
const PARTLY = { ...documentSchema }

function compare(value: unknown): void {
  assert.equal(satisfiesLarge(PARTLY, value), schemaErrors(documentSchema, value).length === 0)
}

test('the present part of the schema decides as all of it, for every document of the golden cases', () => {
  for (const document of DOCUMENTS) compare(document)
})

test('and for those in which something is another value, missing or too much', () => {
  const spoiled = fc.constantFrom<unknown>(5, null, 'text', [], {}, [{}], { none: 1 }, undefined)
  fc.assert(
    fc.property(
      fc.constantFrom(...DOCUMENTS.filter(isMapping)),
      spoiled,
      fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
      (document, value, way) => {
        const copy = structuredClone(document)
        spoil(copy, way, value)
        compare(copy)
      },
    ),
    { numRuns: 40 },
  )
})

/** Follows the way of positions as deep as there is something, and changes what is there. */
function spoil(part: Record<string, unknown>, way: readonly number[], value: unknown): void {
  const keys = Object.keys(part)
  if (keys.length === 0) return
  const key = keys[way[0]! % keys.length]!
  const child = part[key]
  const rest = way.slice(1)
  if (rest.length > 0 && typeof child === 'object' && child !== null)
    spoil(child as Record<string, unknown>, rest, value)
  else if (value === undefined) delete part[key]
  else part[key] = value
}

test('documents of the same shape share a part, and keys that are absent are not in it', () => {
  const of = (value: unknown) => reduceSchema(documentSchema, value)
  const { schema, shape } = of({ version: 1, routes: [{ id: 'a' }] })
  assert.equal(of({ version: 2, routes: [{ id: 'b' }, {}] }).shape, shape)
  assert.notEqual(of({ version: 1, routes: [{ id: 'a', upstream: 'u' }] }).shape, shape)
  assert.deepEqual(Object.keys(schema['properties']), ['version', 'routes'])
})
