import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import { testKeys } from '../../document-keys/testing/key-tests.js'
import { until } from '../testing/until.js'
import { requestOf, vaultReader } from './testing/reading.js'
import { VaultServer } from './testing/vault-server.js'

/** Starts a server with one secret. */
async function server(t: TestContext, at = 'secret/data/app'): Promise<VaultServer> {
  const vault = await VaultServer.start(t)
  vault.secrets.set(at, { key: at })
  return vault
}

/** Reads `app#key` with these settings. */
async function value(t: TestContext, vault: VaultServer, settings: object, env = {}): Promise<string> {
  const { read } = vaultReader(t)
  return (await read({ address: vault.url, timeout: '1s', ...settings }, ['app#key'], env))[0]!
}

function fileWith(t: TestContext, text: string): string {
  const dir = mkdtempSync('/tmp/vault-keys-')
  t.after(() => rmSync(dir, { recursive: true }))
  writeFileSync(`${dir}/file`, text)
  return `${dir}/file`
}

const TOKEN = { auth: { token: 'root' } }
const APP_ROLE = { roleId: 'role', secretId: 'the-secret-id' }

testKeys('vault', {
  address: async (t) => {
    const vault = await server(t)
    const env = { VAULT_ADDR: vault.url, VAULT_TOKEN: 'root', VAULT_NAMESPACE: 'of/env' }
    const { read } = vaultReader(t)
    assert.deepEqual(await read(null, ['app#key'], env), ['secret/data/app'])
    assert.equal(vault.hits.at(-1)?.namespace, 'of/env')
    assert.match((await read(null, ['app#key']))[0]!, /address of Vault is not set/)
    const other = await server(t)
    await read({ address: other.url }, ['app#key'], env)
    assert.equal(other.hits.at(-1)?.path, 'secret/data/app')
  },
  namespace: async (t) => {
    const vault = await server(t)
    await value(t, vault, { ...TOKEN, namespace: 'team/a' })
    assert.equal(vault.hits.at(-1)?.namespace, 'team/a')
  },
  mount: async (t) => {
    const vault = await server(t, 'team/kv/data/app')
    assert.equal(await value(t, vault, { ...TOKEN, mount: 'team/kv' }), 'team/kv/data/app')
  },
  engine: async (t) => {
    const vault = await server(t, 'secret/app')
    assert.equal(await value(t, vault, { ...TOKEN, engine: 'kv-v1' }), 'secret/app')
  },
  'auth.token': async (t) => {
    const vault = await server(t)
    assert.equal(await value(t, vault, TOKEN), 'secret/data/app')
    assert.match(await value(t, vault, { auth: { token: 'wrong' } }), /403/)
    assert.match(await value(t, vault, {}), /Vault needs a login/)
  },
  'auth.tokenFile': async (t) => {
    const vault = await server(t)
    const tokenFile = fileWith(t, 'first\n')
    const { read } = vaultReader(t)
    const settings = { address: vault.url, auth: { tokenFile } }
    for (const token of ['first', 'second']) {
      vault.tokens.clear()
      vault.tokens.set(token, 0)
      writeFileSync(tokenFile, token)
      assert.deepEqual(await read(settings, ['app#key']), ['secret/data/app'])
    }
  },
  'auth.kubernetes.role': async (t) => {
    const vault = await server(t)
    const kubernetes = { role: 'gateway', tokenFile: fileWith(t, 'the-account-token') }
    await value(t, vault, { auth: { kubernetes } })
    assert.deepEqual(vault.hits[0]?.body, { role: 'gateway', jwt: 'the-account-token' })
    assert.equal(vault.hits[0]?.path, 'auth/kubernetes/login')
  },
  'auth.kubernetes.mount': async (t) => {
    const vault = await server(t)
    const kubernetes = { role: 'gateway', mount: 'eu/k8s', tokenFile: fileWith(t, 'the-account-token') }
    assert.equal(await value(t, vault, { auth: { kubernetes } }), 'secret/data/app')
    assert.equal(vault.hits[0]?.path, 'auth/eu/k8s/login')
  },
  'auth.kubernetes.tokenFile': async (t) => {
    const vault = await server(t)
    const kubernetes = { role: 'gateway', tokenFile: '/no/such/file' }
    assert.match(await value(t, vault, { auth: { kubernetes } }), /\/no\/such\/file cannot be read/)
  },
  'auth.appRole.roleId': async (t) => {
    const vault = await server(t)
    assert.equal(await value(t, vault, { auth: { appRole: APP_ROLE } }), 'secret/data/app')
    assert.deepEqual(vault.hits[0]?.body, { role_id: 'role', secret_id: 'the-secret-id' })
  },
  'auth.appRole.secretId': async (t) => {
    const text = await value(t, await server(t), { auth: { appRole: { ...APP_ROLE, secretId: 'h1dden' } } })
    assert.match(text, /login to auth\/approle failed: Vault answered 400: .* \*\*\* \(check vault\.auth/)
    assert.doesNotMatch(text, /h1dden/)
  },
  'auth.appRole.mount': async (t) => {
    const vault = await server(t)
    await value(t, vault, { auth: { appRole: { ...APP_ROLE, mount: 'roles' } } })
    assert.equal(vault.hits[0]?.path, 'auth/roles/login')
  },
  'tls.caFile': async (t) => {
    const vault = await VaultServer.start(t, FAKE_CERTIFICATES.localhost)
    vault.secrets.set('secret/data/app', { key: 'over TLS' })
    const caFile = fileWith(t, FAKE_CERTIFICATES.localhost.cert)
    assert.equal(await value(t, vault, { ...TOKEN, tls: { caFile } }), 'over TLS')
    assert.equal(await value(t, vault, TOKEN, { VAULT_CACERT: caFile }), 'over TLS')
    assert.match(await value(t, vault, TOKEN), /is not trusted/)
  },
  refresh: async (t) => {
    const vault = await server(t)
    const { secrets } = vaultReader(t)
    const request = requestOf({ address: vault.url, ...TOKEN, refresh: '1s' }, ['app#key'])
    secrets.serve(await secrets.read(request), () => true)
    await until(() => vault.hits.filter(({ path }) => path === 'secret/data/app').length >= 3)
  },
  timeout: async (t) => {
    const vault = await server(t)
    vault.isSealed = true
    assert.match(await value(t, vault, TOKEN), /Vault is sealed/)
    const waiting = value(t, vault, { ...TOKEN, timeout: '5m' })
    const count = vault.hits.length
    await until(() => vault.hits.length > count + 4)
    vault.isSealed = false
    assert.equal(await waiting, 'secret/data/app')
  },
})
