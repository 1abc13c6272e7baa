import assert from 'node:assert/strict'
import { test } from 'node:test'
import { composeDocument } from '../fragments/compose-document.js'
import { formatDiagnostic, loadDocument } from '../index.js'
import { SAMPLE_CATALOG } from '../testing/sample-catalog.js'

const OPTIONS = { catalog: SAMPLE_CATALOG, env: {} }

function load(text: string) {
  return loadDocument({ text, name: 'g.yaml' }, OPTIONS)
}

function planText(text: string): string {
  const result = load(text)
  assert.ok(result.ok, result.ok ? '' : result.diagnostics.map(formatDiagnostic).join('\n'))
  return JSON.stringify(result.bundle)
}

/** Returns a document with a line for keys at each level. */
function documentWith(key: string): string {
  return `version: 1
${key}
listeners: [{ address: ":1", ${key} }]
upstreams:
  u: { targets: [{ url: "http://a", ${key} }], timeouts: { ${key} }, ${key} }
policies: [{ id: m, use: marker, with: { text: a, ${key} }, ${key} }]
routes:
  - { id: r, match: { path: /r, ${key} }, upstream: u, policies: [m, { use: marker, with: { ${key} }, ${key} }], ${key} }
log: { ${key} }
`
}

test('x- keys are ignored at every level', () => {
  const plain = planText(documentWith('x-note: secret').replaceAll(/,? ?x-note: secret/g, ''))
  assert.equal(planText(documentWith('x-note: secret')), plain)
  const unknown = load(documentWith('y-note: 1'))
  assert.ok(!unknown.ok && unknown.diagnostics.length > 8)
})

test('an x- key with the name of a known key gives a hint, but not at the top level', () => {
  const result = load(documentWith('x-note: 1').replaceAll('x-note: 1', 'x-timeouts: 1'))
  const lines = result.ok ? result.warnings.map(formatDiagnostic) : []
  const hints = lines.filter((line) => line.includes("'x-timeouts' has no effect"))
  assert.ok(
    hints.length > 0 && hints.every((line) => /did you mean 'timeouts'\?/.test(line)),
    lines.join('\n'),
  )
  assert.ok(hints.every((line) => !line.startsWith('g.yaml:2:')))
})

test('names that start with x- are kept where the user chooses the names', () => {
  const text =
    'version: 1\nupstreams: { x-u: { targets: ["http://a"] } }\nroutes: [{ id: r, upstream: x-u, match: { headers: { x-key: a } } }]\n'
  assert.match(planText(text), /x-u.*x-key|x-key.*x-u/)
})

test('anchors below x- keys are merged into routes, and an error has the position in the anchor', () => {
  const text = (methods: string) => `version: 1
x-defaults:
  route: &route { respond: { status: 204 }, match: { methods: ${methods} } }
routes:
  - { <<: *route, id: a }
  - { <<: *route, id: b, match: { path: /b } }
`
  assert.match(planText(text('[GET]')), /204.*204/)
  const wrong = load(text('5'))
  assert.deepEqual(wrong.ok ? [] : wrong.diagnostics.map(({ line, column }) => [line, column]), [[3, 63]])
})

test('an id that comes from a merged object is still used once only', () => {
  const wrong = load(
    'version: 1\nx-r: &r { id: a, respond: {} }\nroutes: [*r, { <<: *r, match: { path: /b } }]\n',
  )
  assert.match(wrong.ok ? '' : wrong.diagnostics.map(formatDiagnostic).join(), /'a'/)
})

test('fragments and base files have anchors and x- keys, which are not part of the composed document', () => {
  const files = new Map([
    ['base.yaml', 'version: 1\nx-note: base-note\n'],
    [
      'fragments/pay/a.yaml',
      'x-r: &r { respond: {} }\nroutes: [{ <<: *r, id: pay-a, match: { path: /pay }, x-owner: me }]\n',
    ],
  ])
  const bytes = new Map([...files].map(([name, text]) => [name, Buffer.from(text)]))
  const composed = composeDocument(bytes, { catalog: SAMPLE_CATALOG, part: null, scope: null })
  assert.ok(composed.ok, JSON.stringify(composed))
  assert.doesNotMatch(composed.text, /base-note|x-r/)
  planText(composed.text)
})
