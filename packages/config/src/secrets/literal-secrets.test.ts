import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from '@sinclair/typebox'
import { definePolicy } from '@sluice/core'
import { diffPlans } from '../compare/diff-plans.js'
import { displayPlan } from '../compare/display-plan.js'
import { loadOrThrow } from '../testing.js'
import { maskedLiteral, maskLiterals, maskRandom } from './literal-secrets.js'
import { maskSecrets } from './mask.js'

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
  for (const text of [
    '${env:A}',
    'Bearer ${env:A}',
    'Bearer ${vault:a#b}',
    '{{claim.sub}}',
    'Basic {{vars["a"]}}',
    '',
  ])
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
upstreams:
  a:
    targets: [{ url: 'http://a.example:1' }, { url: 'http://b.example:1', role: canary }]
    health: { path: /h, headers: { x-api-key: zq7word, x-probe: RANDOM } }
    canary: { percent: 5%, match: ['header:x-canary=RANDOM', 'cookie:session=zq7word'] }
routes:
  - id: r
    match:
      path: /r
      headers: { x-api-key: zq7word, x-partner-secret: { regex: zq7word }, x-origin-verify: RANDOM, x-v: { prefix: RANDOM } }
      query: { token: { prefix: zq7word }, k: RANDOM }
      when: 'req.header["authorization"] == "zq7word" && req.header["x-origin-verify"] == "RANDOM"'
    rewrite: { regex: { pattern: a, replacement: '/b?access_token=zq7word' } }
    upstream: a
    policies:
      - use: edits
        with: { set: { authorization: 'Bearer zq7word', x-origin-verify: 'RANDOM' }, code: 'set("x-api-key", "zq7word")' }
        when: '"zq7word" == req.query["key"] || req.header["x-b"] == "RANDOM"'
  - { id: q, match: { path: /q }, rewrite: { path: /bot/RANDOM/send }, upstream: a }
  - { id: t, match: { path: /t }, redirect: { path: /in/RANDOM } }
  - { id: s, match: { path: /s }, respond: { headers: { set-cookie: 'a=zq7word', x-c: RANDOM }, body: { password: zq7word } } }
`.replaceAll('RANDOM', 'zq7word-4f9a8b7c6d5e4f3a2b1c')

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
    ['change a', 'change r', 'change q', 'change t', 'change s'],
    'another secret is a difference',
  )
  assert.doesNotMatch(JSON.stringify(changes), /zq7/)
})

test('what looks made at random is masked, words, versions, dates and references are shown', () => {
  for (const text of [
    '4f9a8b7c6d5e4f3a2b1c',
    'b1946ac9-2492-4d2b-8e07-2f9a3c1d5e6f',
    'Zm9vYmFyMTIzNDU2Nzg5MA==',
    'sk_live_51H8xJ2eZvKYlo2C0',
  ])
    assert.equal(maskRandom(`a ${text}.b`), 'a ***.b', text)
  for (const text of [
    'application/vnd.example.v2+json',
    '^/orders/v2/[0-9]{1,10}$',
    'internal-gateway-eu-west-1',
    '2026-11-29T14:05:00',
    '${env:KEY_1A2B3C4D5E6F7A8B}',
    '${vault:app/1a2b3c4d5e6f7a8b#key}',
    '{{vars["k1a2b3c4d5e6f7a8b9"]}}',
    'checkout-service-version-2',
  ])
    assert.equal(maskRandom(text), text)
})
