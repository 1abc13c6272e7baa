import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDiagnostic, loadDocument } from '../index.js'
import { SAMPLE_CATALOG } from '../testing/sample-catalog.js'

const BY_HEADER = 'match: { headers: { x-role: admin } }'

/** The warnings of a document with one listener and one route. */
function warnings(listener: string, route: string): string[] {
  const text = `version: 1\nlisteners:\n  - { ${listener} }\nroutes:\n  - { id: a, ${route}, respond: {} }\n`
  const result = loadDocument({ text, name: 'a' }, { catalog: SAMPLE_CATALOG, env: {} })
  assert.ok(result.ok, result.ok ? '' : result.diagnostics.map(formatDiagnostic).join('\n'))
  return result.warnings.map(({ path, message }) => `${path}: ${message}`)
}

test('a listener for other machines, on uws, is warned of where a header value decides', () => {
  const expected = [
    'listeners[0].address: routes or policies depend on header values, but engine: uws strips bytes of 0x80 and above from both ends of values',
  ]
  for (const route of [BY_HEADER, `match: { when: 'req.header["x-role"] == "admin"' }`])
    for (const address of [':8080', '0.0.0.0:8080', '10.0.0.1:8080'])
      assert.deepEqual(warnings(`address: '${address}'`, route), expected, `${address} ${route}`)
})

test('nothing is said where no header value decides, and of listeners that keep all bytes or serve this machine only', () => {
  assert.deepEqual(warnings("address: ':8080'", 'match: { path: /a, methods: [GET] }'), [])
  assert.deepEqual(warnings("address: ':8080', engine: node", BY_HEADER), [])
  assert.deepEqual(warnings('address: 127.0.0.1:8080', BY_HEADER), [])
})
