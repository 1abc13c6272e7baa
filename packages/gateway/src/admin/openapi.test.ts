import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENDPOINTS } from './endpoints.js'
import { OPENAPI } from './openapi.js'
import { ADMIN_ERRORS } from './problem.js'

test('the description lists exactly the paths and methods that exist', () => {
  const served = ENDPOINTS.map(({ method, path }) => `${method.toLowerCase()} ${path}`)
  const described = Object.entries(OPENAPI.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path}`),
  )
  assert.deepEqual(described.sort(), served.sort())
})

test('every reference resolves, and every schema is used', () => {
  const references = new Set(JSON.stringify(OPENAPI).match(/#\/components\/schemas\/\w+/g))
  const schemas = Object.keys(OPENAPI.components.schemas).map((name) => `#/components/schemas/${name}`)
  assert.deepEqual([...references].sort(), schemas.sort())
})

test('open endpoints are described as open, and others require the token', () => {
  const operations: Readonly<Record<string, object>> = OPENAPI.paths
  for (const { method, path, access } of ENDPOINTS) {
    const operation: unknown = Object.entries(operations[path] ?? {}).find(
      ([name]) => name === method.toLowerCase(),
    )
    assert.equal(JSON.stringify(operation).includes('"security":[]'), access === 'open', path)
  }
})

test('codes are upper snake case and have a 4xx or 5xx status', () => {
  for (const [code, { status }] of Object.entries(ADMIN_ERRORS)) {
    assert.match(code, /^GW_ADMIN_[A-Z_]+$/)
    assert.ok(status >= 400)
  }
})
