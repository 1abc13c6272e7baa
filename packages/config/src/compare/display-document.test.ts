import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CATALOG } from '../testing/sample-catalog.js'
import { displayDocument } from './display-document.js'

const SECRET = 'Zq7-unlikely.word'
const BOX = `{ use: secret-box, with: { users: [{ name: ann, password: ${SECRET} }] } }`

const shown = (text: string): string => displayDocument(text, SAMPLE_CATALOG, [])

const DOCUMENT = `
version: 1 # not ${SECRET}
admin: { address: 127.0.0.1:1, tokens: [{ id: a, sha256: "${'ab'.repeat(32)}" }] }
upstreams:
  a:
    targets: ["http://user:${SECRET}@127.0.0.1:9000"]
    health: { path: /, headers: { authorization: Bearer ${SECRET} } }
log:
  sink: elasticsearch
  elasticsearch: { nodes: ["http://127.0.0.1:9200"], username: u, password: ${SECRET} }
  outputs: [{ id: w, sink: webhook, webhook: { url: "https://a.example", token: ${SECRET} } }]
policies: [{ id: shared, ${BOX.slice(2, -2)} }]
policyGroups: { all: [shared, ${BOX}] }
routes:
  - id: r
    match: { path: /r, headers: { x-api-key: ${SECRET} }, when: 'req.header["x-token"] == "${SECRET}"' }
    upstream: a
    policies: [${BOX}, { use: not-known, with: { anything: ${SECRET} } }, { use: secret-box, when: 'req.header["x-token"] == "${SECRET}"', with: { users: [{ name: '\${env:NAME}', password: '\${env:S}' }] } }]
  - { id: s, match: { path: /s }, respond: { headers: { x-secret: ${SECRET} }, body: { token: "${SECRET}" } } }
  - { id: t, match: { path: /t }, redirect: { url: "https://a.example/?api_key=${SECRET}" } }
`

test('a shown document has no secrets, and no comments', () => {
  const text = shown(DOCUMENT)
  assert.equal(text.includes(SECRET), false, text)
  assert.equal(text.includes('abab'), false, text)
  assert.ok(!text.includes('#'))
})

test('everything else of a document is shown as written', () => {
  const text = shown(DOCUMENT)
  for (const part of [
    'id: r',
    'path: /r',
    'use: secret-box',
    'name: ann',
    '${env:S}',
    '${env:NAME}',
    '- shared',
  ])
    assert.ok(text.includes(part), `${part}\n${text}`)
  const plain =
    'version: 1\nroutes:\n  - id: s\n    match:\n      path: /s\n    respond:\n      status: 200\n'
  assert.equal(shown(plain), plain)
})

test('a document that is not one is shown without failing', () => {
  assert.equal(shown(''), 'null\n')
  assert.equal(shown('- a'), '- a\n')
  assert.equal(shown('routes: 7\npolicies: [{ use: 1, with: 2 }]').includes('routes: 7'), true)
})
