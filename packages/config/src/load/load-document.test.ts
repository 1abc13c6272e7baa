import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { formatDiagnostic } from '../diagnostic/diagnostic.js'
import { resolvePlan } from '../resolve/resolve-plan.js'
import { SAMPLE_CATALOG } from '../testing/sample-catalog.js'
import { loadDocument } from './load-document.js'

function diagnosticsOf(text: string) {
  const result = loadDocument({ text, name: 'g.yaml' }, { catalog: SAMPLE_CATALOG, env: {} })
  return result.ok ? [] : result.diagnostics
}

test('a file reference is looked up beside the document, and one newline at its end is dropped', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-config-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'secrets'))
  writeFileSync(join(folder, 'secrets', 'greeting'), 'hello\n\n')
  const text = 'version: 1\nroutes: [{ id: a, respond: { body: "${file:secrets/greeting}" } }]\n'
  const result = loadDocument({ text, name: join(folder, 'gateway.yaml') }, { catalog: new Map(), env: {} })
  assert.ok(result.ok)
  const [route] = resolvePlan(result.bundle).routes
  assert.ok(route?.action.kind === 'respond')
  assert.equal(route.action.body, 'hello\n')
})

test('a diagnostic knows its path, and where in a condition the mistake is', () => {
  const [diagnostic] = diagnosticsOf(
    'version: 1\nroutes:\n  - id: a\n    match:\n      when: req.metod == "GET"\n    respond: {}\n',
  )
  assert.equal(diagnostic?.path, 'routes[0].match.when')
  assert.equal(diagnostic?.line, 5)
  assert.ok(diagnostic.column > 13)
})

test('a hundred mistakes are reported, and that there are more', () => {
  const keys = Array.from({ length: 1500 }, (_, i) => `unknown${i}: 1`).join('\n')
  const diagnostics = diagnosticsOf(`version: 1\n${keys}\n`)
  assert.equal(diagnostics.length, 101)
  assert.match(diagnostics.at(-1)?.message ?? '', /there are more errors/)
})

test('a document that is too large, or nested too deeply, is refused and not read', () => {
  assert.match(
    diagnosticsOf(`version: 1\n# ${'x'.repeat(4 * 1024 * 1024)}`)[0]?.message ?? '',
    /larger than 4 MB/,
  )
  for (const unit of ['[', '{a: ', '- ', '? ']) {
    assert.match(diagnosticsOf(unit.repeat(200_000))[0]?.message ?? '', /nested deeper/)
  }
})

test('ten thousand routes load', () => {
  const routes = Array.from(
    { length: 10_000 },
    (_, i) => `- { id: r${i}, match: { path: /p${i} }, respond: {} }`,
  )
  const result = loadDocument(
    { text: `version: 1\nroutes:\n${routes.join('\n')}\n`, name: 'g.yaml' },
    { catalog: new Map(), env: {} },
  )
  assert.ok(result.ok)
  assert.equal(result.bundle.plan.routes.length, 10_000)
})

test('moving routes that something distinguishes does not change the plan', () => {
  const routes = [
    '{ id: a, match: { path: /a }, respond: {} }',
    "{ id: b, match: { path: '/{x}' }, respond: {} }",
  ]
  const digests = [routes, [...routes].reverse()].map((list) => {
    const result = loadDocument(
      { text: `version: 1\nroutes: [${list.join(', ')}]`, name: 'g' },
      { catalog: new Map(), env: {} },
    )
    return result.ok ? result.bundle.digest : ''
  })
  assert.equal(digests[0], digests[1])
})

test('a key without its colon is reported in the words of YAML', () => {
  const result = loadDocument(
    { text: 'version: 1\nroutes\n', name: 'a' },
    { catalog: SAMPLE_CATALOG, env: {} },
  )
  assert.equal(
    result.ok ? '' : formatDiagnostic(result.diagnostics[0]!),
    "a:2:1: invalid YAML: a key without a colon, near 'routes' (write ':' after the key, and check the indentation)",
  )
})

test('a share without its percent sign is reported as it must be written', () => {
  const text =
    'version: 1\nupstreams: { a: { targets: [http://127.0.0.1:1], canary: { percent: 10 } } }\nroutes: []\n'
  const result = loadDocument({ text, name: 'a' }, { catalog: SAMPLE_CATALOG, env: {} })
  assert.match(result.ok ? '' : formatDiagnostic(result.diagnostics[0]!), /not 10 \(write 10%\)$/)
})

test('an address that YAML reads as a number is reported as it must be written', () => {
  const text = 'version: 1\nlisteners: [{ address: 8080 }]\nroutes: []\n'
  const result = loadDocument({ text, name: 'a' }, { catalog: SAMPLE_CATALOG, env: {} })
  assert.equal(
    result.ok ? '' : formatDiagnostic(result.diagnostics[0]!),
    "a:2:24: 'address' must be a listen address such as 127.0.0.1:8080, not 8080 (write 127.0.0.1:8080 for local access only, or :8080 for all addresses)",
  )
})
