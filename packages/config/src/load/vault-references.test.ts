import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  diffBundles,
  displayPlan,
  formatDiagnostic,
  loadDocument,
  resolvePlan,
  vaultRequestOf,
  writtenSecretsOf,
} from '../index.js'
import { SAMPLE_CATALOG as catalog } from '../testing/sample-catalog.js'

const ROUTES = 'routes: [{ id: a, match: { path: / }, respond: { body: "${vault:app/db#password}" } }]'

function load(lines: string, secrets?: Record<string, string>, routes = ROUTES) {
  const options = secrets === undefined ? {} : { secrets: new Map(Object.entries(secrets)) }
  return loadDocument(
    { text: `version: 1\n${lines}\n${routes}\n`, name: 'a' },
    { catalog, env: {}, ...options },
  )
}

function loaded(...args: Parameters<typeof load>) {
  const result = load(...args)
  assert.ok(result.ok, mistakes(...args))
  return result.bundle
}

function mistakes(...args: Parameters<typeof load>): string {
  const result = load(...args)
  return result.ok ? '' : result.diagnostics.map(formatDiagnostic).join('\n')
}

const REFERENCE = '${vault:app/db#password}'

test('a secret is resolved for compilation only, and a difference names its reference', () => {
  const [one, other] = ['s3cret-1', 's3cret-2'].map((value) => loaded('', { [REFERENCE]: value }))
  assert.match(JSON.stringify(resolvePlan(one!)), /s3cret-1/)
  assert.doesNotMatch(JSON.stringify([one!.plan, displayPlan(one!.plan, catalog)]), /s3cret/)
  assert.deepEqual(diffBundles(one!, other!, catalog), [
    { kind: 'change', what: 'reference', name: REFERENCE, details: ['value changed'] },
  ])
})

test('a secret that was not read is an error of its line', () => {
  const issue = { message: 'no answer', remedy: 'start Vault', ofMachine: true } as const
  const options = { catalog, env: {}, secrets: new Map([[REFERENCE, issue]]) }
  const result = loadDocument({ text: `version: 1\n${ROUTES}\n`, name: 'a' }, options)
  assert.ok(!result.ok)
  assert.deepEqual(result.diagnostics.map(formatDiagnostic), ['a:2:56: no answer (start Vault)'])
})

test('without Vault, a document is valid where a secret may have any value', () => {
  const digest = `admin: { tokens: [{ id: ci, role: admin, sha256: "\${vault:app/admin#sha256}" }] }`
  const box = '[{ use: secret-box, with: { users: [{ name: a, password: "${vault:a#b}" }] } }]'
  const log =
    'log: { sink: elasticsearch, elasticsearch: { nodes: ["http://a"], auth: { username: u, password: "${vault:a#b}" } } }'
  loaded([digest, log].join('\n'), undefined, ROUTES.replace('respond:', `policies: ${box}, respond:`))
})

test('a secret is refused where the plan would show it', () => {
  const text = mistakes('workers: "${vault:a#b}"', { '${vault:a#b}': '2', [REFERENCE]: 'x' })
  assert.match(text, /a:2:10: \$\{vault:a#b\} cannot be used here: the value would be visible in plans/)
  assert.match(mistakes('listeners: [{ address: "${vault:a#b}" }]'), /cannot be used here/)
})

test('paths that leave their mount and incomplete references are refused', () => {
  for (const name of [
    '../sys#a',
    'a/../b#c',
    'a/./b#c',
    '/a#b',
    'a//b#c',
    'a/#b',
    '..#a',
    'a',
    'a#',
    '#b',
    'a#b#c',
  ])
    assert.match(mistakes(`environment: "\${vault:${name}}"`), /is not a valid reference/, name)
  loaded('', { [REFERENCE]: 'x', '${vault:..a/b.. c#d e}': 'y' })
})

test('the settings of Vault hide their token, cannot refer to Vault, and a literal token is reported', () => {
  const vault = 'vault: { address: "http://v", auth: { token: hunter2-literal } }'
  const { plan } = loaded(vault)
  assert.deepEqual(displayPlan(plan, catalog).vault?.auth, { kind: 'token', token: '***' })
  const root = { vault: { auth: { appRole: { roleId: 'r', secretId: 'x' } }, namespace: REFERENCE } }
  assert.deepEqual(writtenSecretsOf(root, catalog), ['vault.auth.appRole.secretId'])
  const itself = 'vault: { address: "http://v", auth: { token: "${vault:a#b}" } }'
  assert.match(mistakes(itself), /the settings of Vault refer to Vault/)
})

test('the request of a document has its references once, its settings, and defaults of the environment', () => {
  const text = (vault: string) =>
    `version: 1\n${vault}\n${ROUTES}\n# $\${vault:no#x} \${vault:a#b} ${REFERENCE}\n`
  const env = { VAULT_ADDR: 'https://v:8200/', VAULT_TOKEN: 't', VAULT_NAMESPACE: 'n', VAULT_CACERT: 'ca' }
  const request = (vault: string, name = '/etc/gw/a.yaml') =>
    vaultRequestOf({ text: text(vault), name }, { catalog, env })
  assert.deepEqual(request(''), {
    references: [REFERENCE, '${vault:a#b}'],
    settings: {
      ...{ address: 'https://v:8200', namespace: 'n', mount: 'secret', engine: 'kv-v2' },
      ...{ auth: { kind: 'token', token: 't' }, caFile: '/etc/gw/ca', refreshMs: 300_000, timeoutMs: 30_000 },
    },
  })
  const own = request('vault: { address: "http://w:1", auth: { kubernetes: { role: r } } }')
  assert.match(JSON.stringify(own), /"address":"http:\/\/w:1".*"kind":"kubernetes"/)
  assert.match(JSON.stringify(request('vault: { mount: ../sys }')), /the settings of Vault are invalid/)
  assert.equal(vaultRequestOf({ text: 'version: 1', name: 'a' }, { catalog, env }), null)
})
