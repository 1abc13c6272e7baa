import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDiagnostic, loadDocument } from '../index.js'

function warnings(routes: string): string[] {
  const text = `version: 1\nroutes: [${routes}]\n`
  const result = loadDocument({ text, name: 'g.yaml' }, { catalog: new Map(), env: {} })
  assert.ok(result.ok, result.ok ? '' : result.diagnostics.map(formatDiagnostic).join('\n'))
  return result.warnings.map(({ message }) => message)
}

const LOOPS: readonly (readonly [string, string])[] = [
  ['{ id: r, match: { path: /a }, redirect: { path: /a } }', 'itself'],
  ['{ id: r, match: { path: "/a/{id}" }, redirect: { path: "/a/{id}" } }', 'itself'],
  ['{ id: r, match: { path: /a/* }, redirect: { prefix: /a } }', 'itself'],
  ['{ id: r, match: { path: /a/* }, redirect: { path: /a/b } }', 'itself'],
  ['{ id: r, redirect: { path: /login } }', 'itself'],
  ['{ id: r, match: { hosts: [a.example] }, redirect: { host: a.example } }', 'itself'],
  [
    '{ id: r, match: { path: /a }, redirect: { path: /b } }, { id: s, match: { path: /b, methods: [GET] }, redirect: { path: /a } }',
    'itself through s',
  ],
]

for (const [routes, way] of LOOPS) {
  test(`a redirect that leads to its own route has a warning: ${routes}`, () => {
    assert.equal(warnings(routes)[0], `the route 'r' redirects to ${way}`)
  })
}

test('other redirects have no warning', () => {
  for (const routes of [
    '{ id: r, match: { path: /a }, redirect: { path: /b } }',
    '{ id: r, redirect: { path: /login } }, { id: s, match: { path: /login }, respond: {} }',
    '{ id: r, redirect: { path: /login/a } }, { id: s, match: { path: /login/* }, respond: {} }',
    '{ id: r, match: { path: /a/* }, redirect: { prefix: /b } }',
    '{ id: r, match: { hosts: [a.example] }, redirect: { host: b.example } }',
    '{ id: r, redirect: { host: www.example } }',
    '{ id: r, redirect: { scheme: https } }',
    '{ id: r, match: { path: /a }, redirect: { path: /a, port: 8443 } }',
    '{ id: r, match: { path: /a, methods: [POST] }, redirect: { path: /a, status: 303 } }',
    '{ id: r, match: { path: /a, when: "req.scheme == \'http\'" }, redirect: { path: /a } }',
    '{ id: r, match: { path: /a, query: { old: "1" } }, redirect: { path: /a, keepQuery: false } }',
  ])
    assert.deepEqual(warnings(routes), [], routes)
})
