import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from '@sinclair/typebox'
import { relativePathsOf } from '../reference/relative-files.js'
import { writtenSecretsOf } from '../secrets/written-secrets.js'
import { SAMPLE_CATALOG } from '../testing/sample-catalog.js'
import { loadDocument } from './load-document.js'

test('the relative paths of a document are those that its schemas call paths', () => {
  const root = {
    listeners: [
      {
        address: ':1',
        tls: { certFile: 'tls/a.pem', keyFile: '/run/a.key', certificates: [{ certFile: 'b.pem' }] },
      },
    ],
    log: { file: { dir: 'records' }, geo: { file: '${env:PLACES}' } },
    routes: [{ id: 'tls/c.pem', policies: [{ use: 'sheet', with: { file: 'out.xslt', text: 'c.pem' } }] }],
  }
  const schema = Type.Object({ file: Type.String({ path: true }), text: Type.String() })
  const sheet = { ...SAMPLE_CATALOG.get('marker')!, name: 'sheet', schema }
  assert.deepEqual(relativePathsOf(root, new Map([['sheet', sheet]])), [
    'tls/a.pem',
    'b.pem',
    'records',
    'out.xslt',
  ])
})

test('a secret that is written out is found where it stands; one that is referred to is none', () => {
  const users = (...passwords: string[]): object => ({
    use: 'secret-box',
    with: { users: passwords.map((password) => ({ name: 'n', password })) },
  })
  const root = {
    admin: { tokens: [{ id: 'a', sha256: 'ab'.repeat(32) }] },
    policies: [{ id: 'p', ...users('${env:A}', 'written', '${env:A:-written}', 'pre${env:A}') }],
    routes: [{ id: 'r', policies: ['p', users('${file:a.txt}'), users('$${env:A}')] }],
    state: { password: 'written', url: 3 },
  }
  assert.deepEqual(writtenSecretsOf(root, SAMPLE_CATALOG), [
    'admin.tokens[0].sha256',
    'state.password',
    'policies[0].with.users[1].password',
    'policies[0].with.users[2].password',
    'policies[0].with.users[3].password',
    'routes[0].policies[2].with.users[0].password',
  ])
})

test('a document with a plaintext secret is refused with its position if asked for', () => {
  const text = `version: 1
listeners: [{ address: '127.0.0.1:80' }]
policies:
  - { id: p, use: secret-box, with: { users: [{ name: n, password: written }] } }
routes: [{ id: r, match: { path: / }, respond: { status: 200 } }]
`
  const options = { catalog: SAMPLE_CATALOG, env: {}, isForElsewhere: true }
  const load = (document: string, refusesSecrets: boolean) =>
    loadDocument({ name: 'gateway.yaml', text: document }, { ...options, refusesSecrets })
  assert.equal(load(text, false).ok, true)
  assert.equal(load(text.replace('written', '"${env:A}"'), true).ok, true)
  const refused = load(text, true)
  const [first] = refused.ok ? [] : refused.diagnostics
  assert.deepEqual([first?.line, first?.path], [4, 'policies[0].with.users[0].password'])
})

test('a plan for another machine has no values of its variables', () => {
  const text = `version: 1
workers: "\${env:N}"
listeners: [{ address: '127.0.0.1:\${env:PORT}', limits: { bodyBytes: "\${env:SIZE}" } }]
drain: { timeout: "\${env:TIME}" }
routes: []
`
  const options = { catalog: SAMPLE_CATALOG, env: {}, isForElsewhere: true }
  const result = loadDocument({ name: 'gateway.yaml', text }, options)
  assert.ok(result.ok)
  assert.equal(result.bundle.plan.listeners[0]!.address, '127.0.0.1:${env:PORT}')
})

test('neither looks further than a document goes that is none', () => {
  for (const root of [null, 'text', [], { policies: 'x', routes: [{ policies: [{ use: 'secret-box' }] }] }]) {
    assert.deepEqual(
      [relativePathsOf(root, SAMPLE_CATALOG), writtenSecretsOf(root, SAMPLE_CATALOG)],
      [[], []],
    )
  }
})
