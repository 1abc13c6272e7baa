import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMapping } from '../diagnostic/document-path.js'
import { documentSchema } from './document.js'

type Visit = (schema: Record<string, unknown>, path: string) => void

function walk(schema: unknown, path: string, visit: Visit): void {
  if (!isMapping(schema)) return
  visit(schema, path)
  for (const [key, property] of Object.entries(schema['properties'] ?? {}))
    walk(property, `${path}.${key}`, visit)
  for (const branch of (schema['anyOf'] ?? []) as unknown[]) walk(branch, path, visit)
  walk(schema['items'], `${path}[]`, visit)
  walk(schema['additionalProperties'], `${path}.*`, visit)
}

test('every key has a description', () => {
  const missing: string[] = []
  walk(documentSchema, '', (schema, path) => {
    for (const [key, property] of Object.entries(
      (schema['properties'] ?? {}) as Record<string, Record<string, unknown>>,
    )) {
      const branches = property['anyOf'] as Record<string, unknown>[] | undefined
      const isDescribed = 'description' in property || branches?.every((branch) => 'description' in branch)
      if (!isDescribed) missing.push(`${path}.${key}`)
    }
  })
  assert.deepEqual(missing, [])
})

test('every number, list and map has bounds, and every text has a form or a greatest length', () => {
  const unbounded: string[] = []
  walk(documentSchema, '', (schema, path) => {
    const has = (...keys: string[]) => keys.some((key) => key in schema)
    const type = schema['type']
    const isBounded =
      has('enum', 'const') ||
      (type === 'integer' && has('minimum') && has('maximum')) ||
      (type === 'string' && has('pattern', 'maxLength')) ||
      (type === 'array' && (has('maxItems') || path.endsWith('.body'))) ||
      (type === 'object' &&
        (has('properties', 'maxProperties') || path.endsWith('.with') || path.endsWith('.body'))) ||
      type === 'boolean' ||
      has('anyOf') ||
      path.endsWith('.body[]') ||
      path.endsWith('.custom.options.*')
    if (!isBounded) unbounded.push(path)
  })
  assert.deepEqual(unbounded, [])
})

test('the schema is plain JSON', () => {
  assert.deepEqual(JSON.parse(JSON.stringify(documentSchema)).type, 'object')
})
