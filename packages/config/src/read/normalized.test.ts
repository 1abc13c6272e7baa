import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Catalog, definePolicy, Type } from '@sluice/core'
import { formatDiagnostic } from '../diagnostic/diagnostic.js'
import { loadDocument } from '../load/load-document.js'
import { SAMPLE_CATALOG } from '../testing/sample-catalog.js'

const NESTED = Type.Object({ ttl: Type.Optional(Type.String()), size: Type.Optional(Type.Integer()) })

/** A policy with all kinds of old forms. */
const RENAMED = definePolicy({
  name: 'renamed',
  summary: 'Sample policy with old keys.',
  schema: Type.Object(
    {
      limit: Type.Optional(Type.Array(Type.Integer(), { shorthand: 'list' })),
      text: Type.Optional(
        Type.Object(
          { file: Type.Optional(Type.String({ path: true })), inline: Type.Optional(Type.String()) },
          { additionalProperties: false, shorthand: 'file' },
        ),
      ),
      cache: Type.Optional(NESTED),
      unreadable: Type.Optional(
        Type.Union([Type.Literal('refuse'), Type.Literal('pass')], {
          deprecatedValues: { reject: 'refuse' },
        }),
      ),
    },
    {
      additionalProperties: false,
      deprecatedKeys: {
        max: 'limit',
        textFile: 'text',
        cacheTtl: 'cache.ttl',
        strict: { use: 'unreadable', values: { true: 'refuse', false: 'pass' } },
      },
    },
  ),
  compile: () => null,
})

const CATALOG: Catalog = new Map([...SAMPLE_CATALOG, ['renamed', RENAMED]])
const ENV = { MODE: 'try-any', SHARE: '40%' }

function load(text: string, name = 'a.yaml') {
  return loadDocument({ text: `version: 1\n${text}`, name }, { catalog: CATALOG, env: ENV })
}

function planOf(text: string): unknown {
  const result = load(text)
  assert.ok(result.ok, result.ok ? '' : result.diagnostics.map(formatDiagnostic).join('\n'))
  return result.bundle
}

function messages(text: string): string[] {
  const result = load(text)
  const all = result.ok ? result.warnings : result.diagnostics
  return all.map((diagnostic) => formatDiagnostic(diagnostic))
}

/** Returns a document with an upstream that a route uses. */
function upstream(settings: string): string {
  return `routes: [{ id: r, upstream: u }]\nupstreams:\n  u: { targets: ["http://a", { url: "http://b", role: failover }], ${settings} }\n`
}

function policy(settings: string): string {
  return `routes:\n  - id: r\n    respond: {}\n    policies: [{ use: renamed, with: { ${settings} } }]\n`
}

/** The old and the new form of each deprecated key of the sample, and the replacement that the warning names. */
const FORMS: readonly (readonly [string, string, string])[] = [
  [policy('max: [1]'), policy('limit: [1]'), "'max' is deprecated (use 'limit')"],
  [policy('max: 1'), policy('limit: [1]'), "'max' is deprecated (use 'limit')"],
  [policy('textFile: a.txt'), policy('text: { file: a.txt }'), "'textFile' is deprecated (use 'text')"],
  [policy('cacheTtl: 5s'), policy('cache: { ttl: 5s }'), "'cacheTtl' is deprecated (use 'cache.ttl')"],
  [
    policy('cacheTtl: 5s, cache: { size: 1 }'),
    policy('cache: { ttl: 5s, size: 1 }'),
    "'cacheTtl' is deprecated (use 'cache.ttl')",
  ],
  [
    policy('cache: { size: 1 }, cacheTtl: 5s'),
    policy('cache: { size: 1, ttl: 5s }'),
    "'cacheTtl' is deprecated (use 'cache.ttl')",
  ],
  [policy('strict: true'), policy('unreadable: refuse'), "'strict' is deprecated (write unreadable: refuse)"],
  [
    policy('unreadable: reject'),
    policy('unreadable: refuse'),
    "'unreadable: reject' is deprecated (write unreadable: refuse)",
  ],
]

for (const [old, current, warning] of FORMS) {
  test(`an old form has the plan of the new one: ${warning}`, () => {
    assert.deepEqual(planOf(old), planOf(current))
    assert.deepEqual(messages(current), [])
    const [only, ...others] = messages(old)
    assert.match(only ?? '', /^a\.yaml:5:\d+: warning: /)
    assert.ok(only?.endsWith(warning), only)
    assert.deepEqual(others, [])
  })
}

test('a shorthand means the long form, without a warning', () => {
  for (const [short, long] of [
    ['limit: 3', 'limit: [3]'],
    ['text: a.txt', 'text: { file: a.txt }'],
  ] as const) {
    assert.deepEqual(planOf(policy(short)), planOf(policy(long)))
    assert.deepEqual(messages(policy(short)), [])
  }
})

test('a reference decides about a value that is replaced', () => {
  const [old, current] = [upstream('whenAllDown: "${env:MODE}"'), upstream('panicMode: true')]
  assert.deepEqual(planOf(old), planOf(current))
  assert.deepEqual(planOf(upstream('spillBelow: "${env:SHARE}"')), planOf(upstream('failoverBelow: 40%')))
})

test('an alias warns wherever it is used, and errors are reported where the old key is', () => {
  const text = `upstreams:\n  u: &u { targets: ["http://a"], whenAllDown: try-any }\n  v: *u\nroutes: [{ id: r, upstream: u }, { id: s, match: { path: /s }, upstream: v }]\n`
  assert.deepEqual(messages(text), [
    "a.yaml:3:34: warning: 'whenAllDown' is deprecated (write panicMode: true)",
  ])
  assert.deepEqual(messages(upstream('spillBelow: 400%')), [
    "a.yaml:4:68: warning: 'spillBelow' is deprecated (use 'failoverBelow')",
    "a.yaml:4:80: 'failoverBelow' must be a percentage from 0% to 100%, not '400%' (use a value in this range)",
  ])
})

test('an old key next to its replacement is an error', () => {
  assert.deepEqual(messages(upstream('panicMode: true, whenAllDown: refuse')), [
    "a.yaml:4:85: 'whenAllDown' is the old name of 'panicMode', and both are set (remove whenAllDown)",
  ])
})

test('an old value that is unknown is reported like any other', () => {
  assert.deepEqual(messages(upstream('http2: maybe')).length, 1)
  assert.deepEqual(messages(upstream('whenAllDown: maybe')).length, 2)
})
