import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Type } from '@sinclair/typebox'
import { definePolicy } from '@sluice/core'
import { diffBundles, displayPlan, formatDiagnostic, loadDocument, resolvePlan } from '../index.js'
import { SAMPLE_CATALOG } from '../testing/sample-catalog.js'
import { SAMPLE_CERTIFICATE, SAMPLE_KEY } from '../testing/sample-certificate.js'

const files = definePolicy({
  name: 'files',
  summary: 'Reads files.',
  schema: Type.Object({
    file: Type.Optional(Type.String({ path: true })),
    imports: Type.Optional(Type.Record(Type.String(), Type.String({ path: true }))),
  }),
  compile: () => null,
})
const catalog = new Map([...SAMPLE_CATALOG, ['files', files]])

const DOCUMENT = `version: 1
listeners: [{ address: "127.0.0.1:8443", tls: { certFile: tls/cert.pem, keyFile: "\${env:KEYS}/key.pem" } }]
routes:
  - id: a
    match: { path: / }
    respond: {}
    policies: [{ use: files, with: { file: ./a.json, imports: { "b.xsl": "xsl/b.xsl", "c": "/etc/c" } } }]
log:
  file: { dir: traffic }
  custom: { module: ./target.mjs }
`

/** A folder with the document, its certificate and its key. */
function location(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'gw-paths-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  mkdirSync(join(dir, 'tls'))
  writeFileSync(join(dir, 'tls', 'cert.pem'), SAMPLE_CERTIFICATE)
  writeFileSync(join(dir, 'tls', 'key.pem'), SAMPLE_KEY)
  return dir
}

function loaded(name: string, keys: string) {
  const result = loadDocument({ text: DOCUMENT, name }, { catalog, env: { KEYS: keys } })
  assert.ok(result.ok, result.ok ? '' : result.diagnostics.map(formatDiagnostic).join('\n'))
  return result.bundle
}

test('relative paths begin in the folder of the document, of policies and behind references too', (t) => {
  const dir = location(t)
  for (const keys of ['tls', join(dir, 'tls')]) {
    const plan = resolvePlan(loaded(join(relative('', dir), 'gateway.yaml'), keys))
    assert.deepEqual(plan.listeners[0]?.tls, {
      certFile: join(dir, 'tls/cert.pem'),
      keyFile: `${keys === 'tls' ? join(dir, 'tls') : keys}/key.pem`,
      certificates: [],
      clientCaFile: null,
      clientCertificate: 'required',
      minVersion: 'TLSv1.2',
    })
    assert.deepEqual(plan.routes[0]?.policies[0]?.with, {
      file: `${dir}/./a.json`,
      imports: { 'b.xsl': join(dir, 'xsl/b.xsl'), c: '/etc/c' },
    })
    assert.equal(plan.log.file.dir, join(dir, 'traffic'))
    assert.equal(plan.log.custom?.from, dir)
  }
})

test('a plan does not depend on where its document lies, and shows paths as they are written', (t) => {
  const [one, other] = [location(t), location(t)]
  const [first, second] = [loaded(join(one, 'a.yaml'), 'tls'), loaded(join(other, 'b.yaml'), 'tls')]
  assert.equal(first.digest, second.digest)
  const shown = displayPlan(first.plan, catalog)
  assert.equal(shown.listeners[0]?.tls?.certFile, 'tls/cert.pem')
  assert.equal(shown.log.file.dir, 'traffic')
  assert.doesNotMatch(JSON.stringify(shown), /\$\{folder/)
})

test('another version of a file that a policy reads is another configuration, and named in the difference', (t) => {
  const dir = location(t)
  const load = () => loaded(join(dir, 'gateway.yaml'), 'tls')
  const nothing = load()
  writeFileSync(join(dir, 'a.json'), '1')
  const first = load()
  assert.notDeepEqual(nothing, first)
  assert.deepEqual(load(), first)
  writeFileSync(join(dir, 'a.json'), '22')
  const second = load()
  assert.equal(first.digest, second.digest)
  assert.deepEqual(diffBundles(first, second, catalog), [
    { kind: 'change', what: 'reference', name: './a.json', details: ['value changed'] },
  ])
})

test('a folder that nobody has named stays in the working directory', (t) => {
  const text = 'version: 1\nroutes: [{ id: a, match: { path: / }, respond: {} }]\n'
  const result = loadDocument({ text, name: join(location(t), 'a.yaml') }, { catalog, env: {} })
  assert.equal(result.ok && resolvePlan(result.bundle).log.file.dir, './data/traffic')
})

test('what stands for the folder is no reference that a document may have', () => {
  const text = 'version: 1\nlog: { file: { dir: "${folder}/x" } }\nroutes: []\n'
  const result = loadDocument({ text, name: 'a.yaml' }, { catalog, env: {} })
  assert.match(
    result.ok ? '' : formatDiagnostic(result.diagnostics[0]!),
    /'\$\{folder\}' is not a valid reference/,
  )
})

test('a file that is found in the working directory is reported as it must be written', (t) => {
  const dir = location(t)
  const text =
    'version: 1\nlisteners: [{ address: ":1", tls: { certFile: package.json, keyFile: nowhere } }]\nroutes: []\n'
  const result = loadDocument({ text, name: join(dir, 'a.yaml') }, { catalog, env: {} })
  const lines = result.ok ? [] : result.diagnostics.map(formatDiagnostic)
  const way = relative(dir, join(process.cwd(), 'package.json'))
  assert.ok(
    lines.some((line) => line.endsWith(`(paths are relative to the folder of the document: write ${way})`)),
    lines.join('\n'),
  )
  assert.ok(
    lines.some((line) => /'nowhere' cannot be read.*relative to the folder of the document/.test(line)),
  )
})

test('records that would be left behind in the working directory are warned of', (t) => {
  const dir = location(t)
  const text =
    'version: 1\nlog: { file: { dir: packages } }\nroutes: [{ id: a, match: { path: / }, respond: {} }]\n'
  const result = loadDocument({ text, name: join(dir, 'a.yaml') }, { catalog, env: {} })
  assert.ok(result.ok)
  assert.match(
    result.warnings.map(formatDiagnostic).join('\n'),
    /:2:21: warning: records go to 'packages' in the folder/,
  )
})
