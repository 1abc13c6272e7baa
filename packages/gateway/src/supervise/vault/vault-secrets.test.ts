import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import { until } from '../testing/until.js'
import { requestOf, vaultReader } from './testing/reading.js'
import { VaultServer } from './testing/vault-server.js'

const APP = 'secret/data/app'

async function started(t: TestContext) {
  const vault = await VaultServer.start(t)
  vault.secrets.set(APP, { password: 'p4ssw0rd', port: 5432, list: [] })
  const settings = (more: object = {}) => ({
    address: vault.url,
    auth: { token: 'root' },
    timeout: '1s',
    ...more,
  })
  return { vault, settings, ...vaultReader(t) }
}

test('several keys of a secret are read with one request', async (t) => {
  const { vault, settings, read } = await started(t)
  assert.deepEqual(await read(settings(), ['app#password', 'app#port']), ['p4ssw0rd', '5432'])
  assert.equal(vault.hits.filter(({ path }) => path === APP).length, 1)
})

test('each failure names the reference and what to do', async (t) => {
  const { vault, settings, read } = await started(t)
  const [list, key, secret] = await read(settings(), ['app#list', 'app#nope', 'no/such#key'])
  assert.match(list!, /^\$\{vault:app#list\} cannot be read: the key 'list' of app is not a string \(store/)
  assert.match(key!, /the secret app has no key 'nope' \(add/)
  assert.match(
    secret!,
    /no secret at secret\/data\/no\/such \(write it with vault kv put -mount=secret no\/such/,
  )
  vault.tokens.set('weak', 0)
  vault.takeOver = (req, res) => {
    if (!req.url?.includes(APP)) return false
    res.writeHead(403).end('{"errors":["1 error occurred:\\n\\t* permission denied weak"]}')
    return true
  }
  const [denied] = await read(settings({ auth: { token: 'weak' } }), ['app#password'])
  assert.match(
    denied!,
    /403: 1 error occurred: \* permission denied \*\*\* for secret\/data\/app \(let a policy/,
  )
})

test('while Vault is sealed it is asked again until the timeout', async (t) => {
  const { vault, settings, read, log } = await started(t)
  vault.isSealed = true
  const answer = read(settings({ timeout: '5m' }), ['app#password'])
  await until(() => log().includes('vault.waiting'))
  vault.isSealed = false
  assert.deepEqual(await answer, ['p4ssw0rd'])
  vault.isSealed = true
  assert.match((await read(settings(), ['app2#x']))[0]!, /503: Vault is sealed \(check that/)
  // Known values stay usable for the next document.
  assert.deepEqual(await read(settings(), ['app#password']), ['p4ssw0rd'])
})

test('a login is repeated if its token is revoked, and a long-lived one is used again', async (t) => {
  const { vault, settings, read } = await started(t)
  const auth = { appRole: { roleId: 'gateway', secretId: 'the-secret-id' } }
  for (let i = 0; i < 2; i++) assert.deepEqual(await read(settings({ auth }), ['app#password']), ['p4ssw0rd'])
  vault.tokens.delete('login-1')
  assert.deepEqual(await read(settings({ auth }), ['app#password']), ['p4ssw0rd'])
  assert.deepEqual(
    vault.hits.map(({ path, token }) => `${path} ${token}`.trim()),
    [
      'auth/approle/login',
      ...[1, 1, 1].map((i) => `${APP} login-${i}`),
      'auth/approle/login',
      `${APP} login-2`,
    ],
  )
})

test('a changed secret is reported once, and an outage keeps the known value', async (t) => {
  const { vault, settings, secrets, log } = await started(t)
  const request = requestOf(settings({ refresh: '1s' }), ['app#password'])
  let turns = 0
  secrets.onRotated = async () => {
    turns++
    secrets.serve(await secrets.read(request), () => true)
  }
  secrets.serve(await secrets.read(request), () => true)
  const gauge = (name: string) => secrets.samples().find((sample) => sample.name === name)?.value
  await vault.stop()
  await until(() => gauge('gw_vault_up') === 0)
  assert.match(secrets.warnings().join(), /unavailable: connection refused; the known secrets stay in use/)
  await vault.listen()
  await until(() => gauge('gw_vault_up') === 1)
  assert.deepEqual([turns, secrets.warnings()], [0, []])
  vault.secrets.set(APP, { password: 'n3w' })
  await until(() => turns === 1)
  const reads = vault.hits.length
  await until(() => vault.hits.length >= reads + 2)
  assert.deepEqual([turns, gauge('gw_vault_rotations_total')], [1, 1])
  assert.doesNotMatch(log(), /p4ssw0rd|n3w|"root"/)
})

test('a token of the document is renewed before it expires', async (t) => {
  const { vault, settings, secrets } = await started(t)
  vault.tokens.set('short', 1)
  const request = requestOf(settings({ auth: { token: 'short' } }), ['app#password'])
  secrets.serve(await secrets.read(request), () => true)
  await until(() => vault.hits.some(({ path }) => path === 'auth/token/renew-self'))
  assert.equal(vault.hits.filter(({ path }) => path === 'auth/token/lookup-self').length, 1)
})

const GIANT = '{"data":{"data":{"password":"'

/** Behaviour of a hostile or broken server, and the message that follows. */
const ATTACKS: readonly (readonly [string, (vault: VaultServer) => VaultServer['takeOver'], RegExp])[] = [
  [
    'redirects to another host',
    (vault) => (_, res) => {
      res.writeHead(307, { location: `${vault.url.replace('127.0.0.1', 'localhost')}/v1/stolen` }).end()
      return true
    },
    /redirects to another address \(set vault\.address/,
  ],
  [
    'sends a giant response',
    () => (_, res) => {
      res.writeHead(200)
      const write = (): void => {
        while (!res.destroyed && res.write(GIANT.repeat(10_000)));
      }
      res.on('drain', write)
      write()
      return true
    },
    /the response of http:\S+ is larger than 1 MB/,
  ],
  ['never answers', () => () => true, /no response within 5 s/],
  [
    'answers byte by byte',
    () => (_, res) => {
      res.writeHead(200)
      const timer = setInterval(() => res.write(' '), 50)
      res.on('close', () => clearInterval(timer))
      return true
    },
    /no response within 5 s/,
  ],
  ['is not Vault', () => (_, res) => void res.end('<html>') === undefined, /did not send a Vault response/],
  [
    'echoes the token in an error',
    () => (req, res) => {
      res
        .writeHead(400)
        .end(JSON.stringify({ errors: [`bad ${req.headers['x-vault-token']}\r\n\u001b[31m`] }))
      return true
    },
    /400: bad \*\*\* \[31m/,
  ],
  [
    'answers with a prototype in place of keys',
    () => (_, res) => void res.end('{"data":{"data":{}}}') === undefined,
    /has no key 'constructor'/,
  ],
]

for (const [what, takeOver, message] of ATTACKS) {
  test(`a server that ${what} is refused`, async (t) => {
    const { vault, settings, read } = await started(t)
    const auth = { tokenFile: await tokenFile(t, 'hvs.t0ken\n') }
    vault.tokens.set('hvs.t0ken', 0)
    await read(settings({ auth }), ['other#x'])
    const take = takeOver(vault)
    vault.takeOver = (req, res) => req.url !== '/v1/auth/token/lookup-self' && take(req, res)
    const [text] = await read(settings({ auth }), ['app#constructor'])
    assert.match(text!, message)
    assert.doesNotMatch(text!, /hvs\.t0ken/)
    assert.equal(
      vault.hits.some(({ path }) => path === 'stolen'),
      false,
    )
  })
}

test('a certificate of an unknown CA is refused, and a trusted one is accepted', async (t) => {
  const vault = await VaultServer.start(t, FAKE_CERTIFICATES.localhost)
  vault.secrets.set(APP, { password: 'p4ssw0rd' })
  const { read } = vaultReader(t)
  const base = { address: vault.url, auth: { token: 'root' }, timeout: '1s' }
  assert.match(
    (await read(base, ['app#password']))[0]!,
    /is not trusted: DEPTH_ZERO_SELF_SIGNED_CERT \(set vault\.tls/,
  )
  assert.equal(vault.hits.length, 0)
  const caFile = await tokenFile(t, FAKE_CERTIFICATES.localhost.cert)
  assert.deepEqual(await read({ ...base, tls: { caFile } }, ['app#password']), ['p4ssw0rd'])
})

test('a token with a line break is never sent', async (t) => {
  const { vault, settings, read } = await started(t)
  const text = await read(settings({ auth: { token: 'ro\not' } }), ['app#password'])
  assert.match(text[0]!, /the token of vault\.auth\.token or VAULT_TOKEN is empty or has invalid characters/)
  assert.equal(vault.hits.length, 0)
})

test('special characters in a path stay in their segment', async (t) => {
  const { vault, settings, read } = await started(t)
  await read(settings(), ['a%2e%2e/b?c d#x'])
  assert.equal(vault.hits.at(-1)?.path, 'secret/data/a%252e%252e/b%3Fc%20d')
})

async function tokenFile(t: TestContext, text: string): Promise<string> {
  const { mkdtempSync, rmSync, writeFileSync } = await import('node:fs')
  const { tmpdir } = await import('node:os')
  const dir = mkdtempSync(`${tmpdir()}/vault-`)
  t.after(() => rmSync(dir, { recursive: true }))
  writeFileSync(`${dir}/file`, text)
  return `${dir}/file`
}
