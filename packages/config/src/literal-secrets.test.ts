import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from '@sinclair/typebox'
import { definePolicy } from '@sluice/core'
import { diffPlans } from './diff-plans.js'
import { displayPlan } from './display-plan.js'
import { maskedLiteral, maskLiterals } from './literal-secrets.js'
import { maskSecrets } from './mask.js'
import { loadOrThrow } from './testing.js'

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'

test('secrets that are written within a text are masked', () => {
  for (const [written, shown] of [
    ['https://ann:pw1@a.example/x', 'https://***@a.example/x'],
    ['redis://:pw1@a.example', 'redis://***@a.example'],
    ['/x?api_key=s3cr3t&b=1', '/x?api_key=***&b=1'],
    ['/x?a=1&access_token=abc#f', '/x?a=1&access_token=***#f'],
    ["ctx.req.headers.set('authorization', 'Bearer abc')", "ctx.req.headers.set('authorization', '***')"],
    ['const apiKey = "s3cr3t"', 'const apiKey = "***"'],
    ['{"password": "s3cr3t", "n": "x"}', '{"password": "***", "n": "x"}'],
    ['req.header["x-api-key"] == "s3cr3t" && a == "b"', 'req.header["x-api-key"] == "***" && a == "b"'],
    ['"s3cr3t" != req.header["x-api-key"]', '"***" != req.header["x-api-key"]'],
    [
      'req.header["x-api-key"] in ["s;3", "b"] || a in ["c"]',
      'req.header["x-api-key"] in ["***", "***"] || a in ["c"]',
    ],
    ["req.header['x-upstream-pw'].startsWith('s3')", "req.header['x-upstream-pw'].startsWith('***')"],
    ['<user password="s3cr3t"/>', '<user password="***"/>'],
    ['send Bearer abc123def456', 'send Bearer ***'],
    ['Basic YW5uOnB3MTIzNDU2', 'Basic ***'],
    [`x ${JWT} y`, 'x *** y'],
    ['id AKIAIOSFODNN7EXAMPLE', 'id ***'],
  ] as const) {
    assert.equal(maskLiterals(written), shown)
  }
})

test('texts without secrets, references and placeholders are shown as they are', () => {
  for (const text of [
    'https://a.example/x?b=1',
    'https://${env:USER}:${env:PASSWORD}@a.example',
    '/x?api_key=${env:KEY}',
    "ctx.req.headers.set('authorization', '${env:AUTH}')",
    "ctx.req.headers.remove('authorization')",
    'Basic authentication; a bearer of good news',
    'ann@example.com',
    '$.user.token',
    'a == "b" && keys.size > 0',
    '"x-api-key" in req.header && "b" == req.header["x-tenant"]',
  ])
    assert.equal(maskLiterals(text), text)
})

test('what stands under the name of a secret is shown as far as it is a reference or a placeholder', () => {
  for (const text of ['${env:A}', 'Bearer ${env:A}', '{{claim.sub}}', 'Basic {{vars["a"]}}', ''])
    assert.equal(maskedLiteral(text), text)
  assert.equal(maskedLiteral('Bearer ${env:A:-s3cr3t}'), 'Bearer ${env:A:-***}')
  for (const text of ['abc', 'Bearer abc', 'x${env:A}', '$${env:A}', 'Bearer {{a}}b'])
    assert.equal(maskedLiteral(text), '***')
})

test('names that people choose reveal secrets, names of the schema do not', () => {
  const schema = Type.Object({
    token: Type.String(),
    set: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
    rename: Type.Record(Type.String(), Type.String({ secret: false })),
    params: Type.Record(Type.String(), Type.Unknown()),
  })
  assert.deepEqual(
    maskSecrets(schema, {
      token: 'header.x',
      set: {
        Authorization: 'Bearer abc',
        'x-api-key': ['a', '${env:B}'],
        accept: 'text/html',
        'set-cookie': 'a=b',
      },
      rename: { authorization: 'x-old' },
      params: { secret: { a: ['b', 1] }, plain: 1 },
    }),
    {
      token: 'header.x',
      set: {
        Authorization: '***',
        'x-api-key': ['***', '${env:B}'],
        accept: 'text/html',
        'set-cookie': '***',
      },
      rename: { authorization: 'x-old' },
      params: { secret: { a: ['***', '***'] }, plain: 1 },
    },
  )
})

const edits = definePolicy({
  name: 'edits',
  summary: 'Stands for a policy that sets headers.',
  schema: Type.Object({ set: Type.Record(Type.String(), Type.String()), code: Type.String() }),
  compile: () => null,
})

const DOCUMENT = `
version: 1
upstreams: { a: { targets: ['http://a.example:1'] } }
routes:
  - id: r
    match: { path: /r, headers: { x-api-key: zq7word }, query: { token: { prefix: zq7word } }, when: 'req.header["authorization"] == "zq7word"' }
    rewrite: { regex: { pattern: a, replacement: '/b?access_token=zq7word' } }
    upstream: a
    policies: [{ use: edits, with: { set: { authorization: 'Bearer zq7word' }, code: 'set("x-api-key", "zq7word")' } }]
  - { id: s, match: { path: /s }, respond: { headers: { set-cookie: 'a=zq7word' }, body: { password: zq7word } } }
`

test('no secret that is written into a route is in what is shown of it', () => {
  const catalog = new Map([[edits.name, edits]])
  const { plan } = loadOrThrow(DOCUMENT, catalog)
  assert.match(JSON.stringify(plan), /zq7word/)
  const printed = JSON.stringify([displayPlan(plan, catalog), diffPlans(null, plan, catalog)])
  assert.doesNotMatch(printed, /zq7word/)
  const other = loadOrThrow(DOCUMENT.replaceAll('zq7word', 'zq7other'), catalog).plan
  const changes = diffPlans(plan, other, catalog)
  assert.deepEqual(
    changes.map(({ kind, name }) => `${kind} ${name}`),
    ['change r', 'change s'],
    'another secret is a difference',
  )
  assert.doesNotMatch(JSON.stringify(changes), /zq7/)
})
