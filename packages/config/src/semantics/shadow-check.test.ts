import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDiagnostic, loadDocument } from '../index.js'
import { SAMPLE_CATALOG } from '../testing/sample-catalog.js'

/** The warnings of a document whose routes are `id: match and priority`. */
function warnings(routes: Readonly<Record<string, string>>): string[] {
  const lines = Object.entries(routes).map(([id, rest]) => `  - { id: ${id}, ${rest}, respond: {} }`)
  const text = `version: 1\nroutes:\n${lines.join('\n')}\n`
  const result = loadDocument({ text, name: 'a' }, { catalog: SAMPLE_CATALOG, env: {} })
  assert.ok(result.ok, result.ok ? '' : result.diagnostics.map(formatDiagnostic).join('\n'))
  return result.warnings.map(({ message }) => message)
}

const SHADOWED: readonly (readonly [string, string, string])[] = [
  ['a prefix of higher priority', 'match: { path: /a/* }, priority: 5', 'match: { path: /a/b }'],
  ['a route for everything', 'match: {}, priority: 1', 'match: { hosts: [x.org], path: /a/* }'],
  ['a template', 'match: { path: "/a/{id}" }, priority: 1', 'match: { path: /a/b, methods: [GET] }'],
  [
    'a wildcard host',
    'match: { hosts: ["*.x.org"], path: /* }, priority: 1',
    'match: { hosts: [a.b.x.org], path: /c }',
  ],
  [
    'more methods',
    'match: { path: /a, methods: [GET, POST] }, priority: 1',
    'match: { path: /a, methods: [post] }',
  ],
  [
    'fewer headers',
    'match: { path: /a, headers: { x-t: a } }, priority: 1',
    'match: { path: /a, headers: { X-T: a, b: c } }',
  ],
  ['the prefix before a regular expression', 'match: { path: /a/* }', 'match: { path: "~^/a/[0-9]+$" }'],
  ['an earlier regular expression', 'match: { path: "~^/a" }', 'match: { path: "~^/a", methods: [GET] }'],
  ['a regular expression for everything', 'match: { path: "~^/.*" }', 'match: { path: "~^/a" }'],
]

for (const [what, taker, loser] of SHADOWED) {
  test(`a route that no request reaches is warned of: after ${what}`, () => {
    assert.deepEqual(warnings({ taker, loser }), [
      "the route 'loser' is never reached: 'taker' matches all its requests",
    ])
  })
}

const REACHED: readonly (readonly [string, string, string])[] = [
  ['the more specific path wins', 'match: { path: /a/* }', 'match: { path: /a/b }'],
  ['a longer path is not covered', 'match: { path: /a/b/* }, priority: 1', 'match: { path: /a/* }'],
  ['another method is left', 'match: { path: /a, methods: [GET] }, priority: 1', 'match: { path: /a }'],
  [
    'another host is left',
    'match: { hosts: [x.org], path: /* }, priority: 1',
    'match: { hosts: [x.org, y.org], path: /a }',
  ],
  [
    'a condition may fail',
    `match: { path: /a, when: 'req.method == "GET"' }, priority: 1`,
    'match: { path: /a }',
  ],
  [
    'a wildcard is not its own domain',
    'match: { hosts: ["*.x.org"] }, priority: 1',
    'match: { hosts: [x.org] }',
  ],
  ['an alternative begins elsewhere', 'match: { path: /a/* }', 'match: { path: "~^/a/x|^/b" }'],
  ['a slash may be left out', 'match: { path: /a/* }', 'match: { path: "~^/a/*x" }'],
  ['the path of the other is longer', 'match: { path: "/a/{id}/c" }, priority: 1', 'match: { path: /a/b }'],
]

for (const [why, one, other] of REACHED) {
  test(`a route that requests reach is not warned of: ${why}`, () => {
    assert.deepEqual(warnings({ one, other }), [])
  })
}

test('20,000 routes of a program are compared in bounded time', () => {
  const routes = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, i) => [`r${i}`, `match: { path: /a/${i} }, priority: ${i % 7}`]),
  )
  assert.deepEqual(warnings(routes), [])
})

test('a method that nobody sends is warned of, with what may be meant', () => {
  assert.deepEqual(warnings({ a: 'match: { path: /, methods: [FETCH, GTE, purge, get] }' }), [
    "'FETCH' is not a known HTTP method",
    "'GTE' is not a known HTTP method",
  ])
})
