import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { splitRoutes } from '../read/route-parts.js'
import { SAMPLE_CATALOG, SAMPLE_ENV } from '../testing/sample-catalog.js'
import { DocumentLoader } from './document-loader.js'
import { loadDocument } from './load-document.js'

const OPTIONS = { catalog: SAMPLE_CATALOG, env: SAMPLE_ENV }
const HEADS = [
  'version: 1\nupstreams:\n  a: { targets: ["http://a"] }\nroutes:\n',
  'version: 1\npolicies:\n  - { id: shared, use: marker }\nupstreams:\n  a: { targets: ["http://a"] }\nroutes:\n  # first\n',
]
const TAILS = ['', 'drain:\n  timeout: 5s\n', 'apis:\n  unused: { revision: "1" }\n']
/** `#` stands for the number of the route. */
const ROUTES = [
  '  - id: r#\n    match: { path: /tie, headers: { x: "#" } }\n    upstream: a\n',
  '  - id: r#\n    match: { path: /p# }\n    upstream: a\n',
  '  - id: r#\n    match:\n      path: "/p#/{id}"\n    upstream: a\n    policies:\n      - use: marker\n        with: { text: "${env:HOST}" }\n',
  '  - { id: r#, match: { path: "~^/x#" }, respond: { body: |-2 } }\n',
  '  - id: r#\n    match: { path: /p#, hosts: [h.example] }\n    respond:\n      body: |\n        - id: none\n         - id: none\n',
  '  # a comment\n\n  -\n    id: r#\n    match: { path: /t#, methods: [GET] }\n    respond: {}\n',
  '  - id: r#\n    match: { path: "/p#/*" }\n    respond: { body: "a\n      - b" }\n',
  '  - id: same\n    match: { path: /p# }\n    respond: {}\n',
  '  - id: r#\n    match: { path: /p#/below }\n    upstream: gone\n',
  '  - id: r#\n    match: { path: /low#, methods: [GET] }\n    upstream: a\n    policies: [shared]\n',
  '  - id: r#\n    match: { path: "/*", headers: { x: "#" } }\n    priority: 1\n    upstream: a\n',
  '  - id: r#\n    match: { path: "/*" }\n    priority: 2\n    upstream: a\n',
  '  -\t{ id: r#, match: { path: /p# }, respond: {} }\n',
  '  - id: r#\n    match: { path: /p# }\n    respond: { body: "x\n',
  '  - y" }\n',
  '  - { id: r#, match: { path: /p# },\n  - respond: {} }\n',
  '  - id: r#\n    match: { path: /p# }\n    respond:\n      body: |+\n        - id: none\n\n\n',
  '  - !!map { id: !!str r#, <<: { match: { path: /p# } }, respond: {} }\n',
  '---\n',
  'routes:\n',
  '\t# c\n',
  '  - &anchor { id: r#, match: { path: /anchor# }, upstream: a }\n',
  '  - id: r#\n    match: { path: "/broken }\n    upstream: a\n',
]
const SOUND = 7

const route = fc
  .tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: ROUTES.length - 1 }), fc.nat(19))
  .map(([number, kind, luck]) => ROUTES[luck === 0 ? kind : kind % SOUND]!.replaceAll('#', String(number)))
const documentText = fc
  .tuple(fc.constantFrom(...HEADS), fc.array(route, { maxLength: 8 }), fc.constantFrom(...TAILS))
  .map(([head, routes, tail]) => head + routes.join('') + tail)

test('documents that are loaded one after the other mean what each of them means alone', () => {
  fc.assert(
    fc.property(fc.array(documentText, { minLength: 1, maxLength: 6 }), (texts) => {
      const loader = new DocumentLoader()
      for (const [i, text] of texts.entries()) {
        const source = { name: `folder-${i % 2}/test.yaml`, text }
        assert.deepEqual(loader.load(source, OPTIONS), loadDocument(source, OPTIONS), text)
      }
    }),
    { numRuns: 100 },
  )
})

/** Counts how many policies of a document are looked at. */
function countingLoader(): {
  load: (text: string) => ReturnType<DocumentLoader['load']>
  seen: () => number
} {
  let seen = 0
  const warnings = () => {
    seen++
    return []
  }
  const marker = { ...SAMPLE_CATALOG.get('marker')!, warnings }
  const options = { ...OPTIONS, catalog: new Map([...SAMPLE_CATALOG, ['marker', marker]]) }
  const loader = new DocumentLoader()
  const load = (text: string) => {
    seen = 0
    return loader.load({ name: 'test.yaml', text }, options)
  }
  return { load, seen: () => seen }
}

function manyRoutes(count: number, changed: number): string {
  const routes = Array.from({ length: count }, (_, i) =>
    ROUTES[2]!.replaceAll('#', `${i}${i === changed ? 'x' : ''}`),
  )
  return HEADS[0]! + routes.join('')
}

test('of a document with one changed route, that one and the first are checked and planned', () => {
  const { load, seen } = countingLoader()
  const first = load(manyRoutes(1000, -1))
  assert.equal(seen(), 1000)
  const second = load(manyRoutes(1000, 500))
  assert.equal(seen(), 2)
  assert.ok(first.ok && second.ok)
  const before = new Set(first.bundle.plan.routes)
  assert.equal(second.bundle.plan.routes.filter((plan) => !before.has(plan)).length, 2)
  assert.notEqual(first.bundle.digest, second.bundle.digest)
})

test('a route that reads a file is loaded each time', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-loader-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const loader = new DocumentLoader()
  const bodies = ['one', 'two', 'three'].map((content, i) => {
    // The last version is in a folder of its own.
    const place = i < 2 ? folder : join(folder, 'next')
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'body.txt'), content)
    const read = '  - id: read\n    match: { path: /read }\n    respond: { body: "${file:body.txt}" }\n'
    const text = HEADS[0]! + ROUTES[1]!.replaceAll('#', String(i)) + ROUTES[1]!.replaceAll('#', '9') + read
    const result = loader.load({ name: join(place, 'test.yaml'), text }, { catalog: SAMPLE_CATALOG, env: {} })
    assert.ok(result.ok)
    return Object.values(result.bundle.values)
  })
  assert.deepEqual(bodies, [['one'], ['two'], ['three']])
})

test('a route that takes a value from a shared setting has that of its file as it is now', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-loader-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const head =
    'version: 1\nupstreams:\n  a: { targets: ["http://a"], timeouts: { total: "${file:total.txt}" } }\nroutes:\n'
  const loader = new DocumentLoader()
  const totals = ['5s', '7s', '7s'].map((content, i) => {
    writeFileSync(join(folder, 'total.txt'), content)
    const text = `${head}${[5, i, 6, 7].map((n) => ROUTES[1]!.replaceAll('#', String(n))).join('')}`
    const source = { name: join(folder, 'test.yaml'), text }
    const result = loader.load(source, OPTIONS)
    assert.deepEqual(result, loadDocument(source, OPTIONS))
    return result.ok ? result.bundle.plan.routes.map(({ timeouts }) => timeouts?.totalMs) : result.diagnostics
  })
  assert.deepEqual(totals, [Array(4).fill(5000), Array(4).fill(7000), Array(4).fill(7000)])
})

test('a document that is too long is refused, however little of it has changed', () => {
  const { load } = countingLoader()
  assert.ok(load(manyRoutes(10, -1)).ok)
  const comment = `  # ${'x'.repeat(4 * 1024 * 1024)}\n`
  assert.equal(load(manyRoutes(10, -1) + comment).ok, false)
})

test('a text is cut where its routes begin, and nowhere else', () => {
  const parts = splitRoutes('a: 1\nroutes: \r\n# c\n- id: a\n  b: |\n   - c\n-\n  id: b\n\ntail: 2\n- x\n')
  assert.deepEqual(parts, {
    head: 'a: 1\nroutes: \r\n# c\n',
    routes: ['- id: a\n  b: |\n   - c\n', '-\n  id: b\n\n'],
    tail: 'tail: 2\n- x\n',
  })
  for (const text of [
    'routes: [a]\n',
    'routes:\n',
    'routes:\nx: 1\n',
    'a: &b 1\nroutes:\n  - c\n',
    '{"routes": []}',
    'routes:\n  -\u00a0a\n  - b\n',
  ])
    assert.equal(splitRoutes(text), null, text)
})
