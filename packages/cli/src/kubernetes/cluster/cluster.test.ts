import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { kubeconfigAccess } from '@sluice/gateway/kubernetes'
import { parse, parseAllDocuments } from 'yaml'
import { gwInProcess } from '../../testing/in-process.js'
import { closedPort, fileWith, gw } from '../../testing.js'
import { execCredentials } from './exec-credentials.js'

// Errors before the API server responds. npm run test:kubernetes covers the rest with a real cluster.

const DOCUMENT = `version: 1
listeners: [{ address: ":8080", health: true }]
routes: [{ id: all, match: { path: /* }, respond: { body: hello } }]
`
const API_VERSION = 'client.authentication.k8s.io/v1'

function kubeconfig(server: string, user: object, more: object = {}): string {
  return JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace: 'edge' } }],
    clusters: [{ name: 'c', cluster: { server, ...more } }],
    users: [{ name: 'u', user }],
  })
}

function program(script: string, env: Readonly<Record<string, string>> = {}) {
  return { apiVersion: API_VERSION, command: 'sh', args: ['-c', script], env }
}

test('an unreachable or unconfigured cluster is an error with the fix', async (t) => {
  const document = fileWith(t, DOCUMENT)
  const server = `https://127.0.0.1:${await closedPort()}`
  const file = fileWith(t, kubeconfig(server, { token: 'secret-token' }), 'kubeconfig')
  const env = { HOME: '/nowhere', KUBECONFIG: '', KUBERNETES_SERVICE_HOST: '' }
  const args = ['deploy', 'kubernetes', '-c', document]
  const run = (...more: readonly string[]) => gwInProcess([...args, ...more], { env })
  const [away, absent, unknown, none] = await Promise.all([
    run('--kubeconfig', file),
    run('--kubeconfig', '/nowhere/config'),
    run('--kubeconfig', file, '--context', 'other'),
    // Only a separate process can have another home directory.
    gw(args, { env }),
  ])
  assert.deepEqual([away.code, absent.code, unknown.code, none.code], [5, 1, 1, 1])
  assert.equal(away.stderr, `cannot reach the API server at ${server} (connection refused)\n`)
  assert.match(absent.stderr, /^cannot read the kubeconfig \/nowhere\/config: there is no such file$/m)
  assert.match(unknown.stderr, /has no 'other' among its contexts: c$/m)
  assert.match(none.stderr, /^no cluster is configured; add --kubeconfig <file>$/m)
})

test('errors that need no cluster are reported without connecting', async (t) => {
  const file = fileWith(
    t,
    kubeconfig(`https://127.0.0.1:${await closedPort()}`, { token: 't' }),
    'kubeconfig',
  )
  const document = fileWith(t, DOCUMENT)
  const run = (...args: readonly string[]) =>
    gwInProcess(['deploy', 'kubernetes', '--kubeconfig', file, ...args])
  // Only the cluster knows the settings of an earlier deployment.
  const secrets = fileWith(t, DOCUMENT.replace('hello', '"${env:WORD}"'))
  const [before, rendered] = await Promise.all([
    run('-c', secrets, '--max-replicas', '1'),
    run('-c', secrets, '--render'),
  ])
  assert.deepEqual([before.code, rendered.code], [5, 3])
  assert.match(rendered.stderr, /specify the Secret that contains its value$/m)
  const [unreachable, badName, few] = await Promise.all([
    run('-c', fileWith(t, DOCUMENT.replace(':8080', '127.0.0.1:8080'))),
    run('-c', document, '--name', 'Edge'),
    run('-c', document, '--replicas', '5', '--max-replicas', '2'),
  ])
  assert.deepEqual([unreachable.code, badName.code, few.code], [3, 3, 64])
  assert.match(unreachable.stderr, /^no listener is reachable from outside its pod/m)
  assert.match(badName.stderr, /^'Edge' is not a valid gateway name/m)
  assert.match(few.stderr, /^--max-replicas 2 is less than --replicas 5$/m)
})

test('--render prints the objects of a first deployment without a cluster', async (t) => {
  const env = { HOME: '/nowhere', KUBECONFIG: '', KUBERNETES_SERVICE_HOST: '' }
  const args = ['--render', '--namespace', 'edge', '--tier', 'W4', '--image', 'registry.example/sluice:1']
  const { code, stdout } = await gw(['deploy', 'kubernetes', '-c', fileWith(t, DOCUMENT), ...args], { env })
  assert.equal(code, 0)
  const objects = parseAllDocuments(stdout).map((one) => one.toJSON())
  const kinds = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}`)
  assert.ok(['ConfigMap edge', 'Service edge', 'Deployment edge'].every((kind) => kinds.includes(kind)))
  const [container] = objects.find(({ kind }) => kind === 'Deployment').spec.template.spec.containers
  assert.deepEqual([container.image, container.resources.limits.cpu], ['registry.example/sluice:1', '4'])
  assert.equal(objects.find(({ kind }) => kind === 'ConfigMap').data['gateway.yaml'], DOCUMENT)
})

test('--helm-values prints the document and its facts as chart values, without a cluster', async (t) => {
  const args = ['deploy', 'kubernetes', '--helm-values', '-c']
  const [values, refused] = await Promise.all([
    gwInProcess([...args, fileWith(t, DOCUMENT)]),
    gwInProcess([...args, fileWith(t, 'version: 1\nroutes: []\nlisteners: [{ address: "127.0.0.1:80" }]\n')]),
  ])
  assert.equal(values.code, 0, values.stderr)
  const { document, facts } = parse(values.stdout)
  assert.equal(document, DOCUMENT)
  assert.equal(facts.documentSha256, createHash('sha256').update(DOCUMENT).digest('hex'))
  assert.deepEqual(facts.listenerPorts, [{ port: 8080, protocol: 'TCP' }])
  assert.deepEqual([refused.code, refused.stdout], [3, ''])
  assert.match(refused.stderr, /^no listener is reachable from outside its pod/m)
})

test('unsupported kubeconfig settings are rejected, and disabled verification is reported', async (t) => {
  const document = fileWith(t, DOCUMENT)
  const server = `https://127.0.0.1:${await closedPort()}`
  const run = (user: object, cluster: object = {}) => {
    const file = fileWith(t, kubeconfig(server, user, cluster), 'kubeconfig')
    return gwInProcess(['deploy', 'kubernetes', '-c', document, '--kubeconfig', file])
  }
  const [proxied, other, unchecked] = await Promise.all([
    run({ token: 't' }, { 'proxy-url': 'http://127.0.0.1:1' }),
    run({ token: 't', as: 'root' }),
    run({ token: 't' }, { 'insecure-skip-tls-verify': true }),
  ])
  assert.deepEqual([proxied.code, other.code, unchecked.code], [1, 1, 5])
  assert.match(proxied.stderr, /^the cluster of \S+ has proxy-url, which is not supported; remove it$/m)
  assert.match(other.stderr, /^the user of \S+ has as, which is not supported; remove it$/m)
  assert.match(
    unchecked.stderr,
    /^the certificate of the API server is not verified \(insecure-skip-tls-verify\)$/m,
  )
})

test('a relative plugin path refers to the folder of the kubeconfig', async (t) => {
  const exec = { apiVersion: API_VERSION, command: './credentials.sh' }
  const file = fileWith(t, kubeconfig('https://127.0.0.1:1', { exec }), 'kubeconfig')
  const script = `#!/bin/sh\necho '{"status":{"token":"from beside"}}'\n`
  writeFileSync(join(dirname(file), 'credentials.sh'), script, { mode: 0o755 })
  const access = await kubeconfigAccess(file, { context: null, runExec: execCredentials() })
  assert.deepEqual(await access.credentials(), { token: 'from beside' })
})

test('an exec plugin provides credentials, which are renewed before they expire', async () => {
  const credentials = execCredentials()
  const made = (status: string) => program(`printf '{"status":%s}' "$STATUS"`, { STATUS: status })
  const soon = new Date(Date.now() + 30_000).toISOString()
  const first = made(`{"token":"one","expirationTimestamp":"${soon}"}`)
  assert.deepEqual(await credentials(first), { token: 'one' })
  const second = made('{"clientCertificateData":"C","clientKeyData":"K"}')
  assert.deepEqual(await credentials(second), { cert: 'C', key: 'K' })
  // Without an expiry, credentials are cached forever.
  assert.deepEqual(await credentials(first), { cert: 'C', key: 'K' })
})

test('the output of an exec plugin is not in any message', async () => {
  for (const script of [
    'echo secret-token; echo secret-token >&2; exit 3',
    'echo secret-token',
    `echo '{"status":{"token":7}}'`,
  ]) {
    await assert.rejects(execCredentials()(program(script)), ({ message }: Error) => {
      assert.doesNotMatch(message, /secret-token/)
      return /^the exec plugin sh of the kubeconfig (failed \(exit 3\)|did not print an ExecCredential)$/.test(
        message,
      )
    })
  }
  const absent = { apiVersion: API_VERSION, command: 'gw-no-such-program', args: [], env: {} }
  await assert.rejects(execCredentials()(absent), /failed \(ENOENT\)$/)
})
