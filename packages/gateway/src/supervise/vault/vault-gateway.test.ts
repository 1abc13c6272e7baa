import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fakeDocument, GatewayProcess } from '../testing/gateway-process.js'
import { until } from '../testing/until.js'
import { VaultServer } from './testing/vault-server.js'

const APP = 'secret/data/app'

/** A document whose only response is the secret. */
function documentFor(vault: VaultServer, more = ''): string {
  const settings = `vault: { address: "${vault.url}", auth: { token: "\${env:T}" }, refresh: 1s, timeout: 1s }`
  return fakeDocument('first', `${settings}\n${more}`).replace('body: ok', 'body: "${vault:app#password}"')
}

async function started(t: TestContext) {
  const vault = await VaultServer.start(t)
  vault.tokens.set('hvs.t0ken', 0)
  vault.secrets.set(APP, { password: 's3cret-1' })
  const options = { document: documentFor(vault), kind: 'busy', env: { T: 'hvs.t0ken' } } as const
  const gateway = await new GatewayProcess(t, options).started()
  const body = async () => (await fetch(`${gateway.url}/first`)).text()
  return { vault, gateway, body }
}

test('a rotated secret is used without a restart, and no request is lost', async (t) => {
  const { vault, gateway, body } = await started(t)
  assert.equal(await body(), 's3cret-1')
  const bodies = new Set<string>()
  let isOver = false
  const traffic = Promise.all(
    [1, 2, 3, 4].map(async () => {
      while (!isOver) bodies.add(await body())
    }),
  )
  vault.secrets.set(APP, { password: 's3cret-2' })
  await until(() => bodies.has('s3cret-2'))
  isOver = true
  await traffic
  assert.deepEqual([...bodies].sort(), ['s3cret-1', 's3cret-2'])
  const [entry] = gateway.log('vault.rotated')
  assert.deepEqual(entry?.['references'], ['${vault:app#password}'])
  // A deploy of the same text reads the secret again.
  const diff = await gateway.put(documentFor(vault, 'workers: 2'), '?dryRun=1')
  const shown = [
    JSON.stringify(await gateway.status()),
    await (await gateway.api('/v1/plan')).text(),
    await (await gateway.api('/metrics')).text(),
    await diff.text(),
    JSON.stringify(
      ['config.applied', 'vault.rotated', 'vault.failed'].flatMap((event) => gateway.log(event)),
    ),
    ...filesBelow(join(gateway.dir, 'data')),
  ].join('\n')
  assert.match(shown, /gw_vault_rotations_total 1/)
  assert.doesNotMatch(shown, /s3cret|hvs\.t0ken/)
})

test('an outage of Vault keeps the values, also for a new document, until they can be read again', async (t) => {
  const { vault, gateway, body } = await started(t)
  await vault.stop()
  await until(async () => (await gateway.status()).warnings.some((text) => text.includes('is unavailable')))
  assert.match(await (await gateway.api('/metrics')).text(), /^gw_vault_up 0$/m)
  assert.equal((await gateway.put(documentFor(vault, 'workers: 2'))).status, 200)
  assert.equal(await body(), 's3cret-1')
  const other = documentFor(vault).replace('app#password', 'other#password')
  const answer = await gateway.put(other)
  assert.equal(answer.status, 422)
  assert.match(
    await answer.text(),
    /other#password\} cannot be read: Vault at http:\S+ is unavailable: connection refused/,
  )
  await vault.listen()
  vault.secrets.set(APP, { password: 's3cret-2' })
  await until(async () => (await body()) === 's3cret-2')
  assert.deepEqual(
    (await gateway.status()).warnings.filter((text) => text.includes('Vault')),
    [],
  )
})

test('comparisons that wait for Vault are bounded, and hold up no deploy', async (t) => {
  const { vault, gateway } = await started(t)
  const held: (() => void)[] = []
  vault.takeOver = (_, res) => held.push(() => res.destroy()) > 0
  const release = (): void => {
    vault.takeOver = () => false
    for (const end of held) end()
  }
  t.after(release)
  let refusals = 0
  const answers = Array.from({ length: 12 }, async () => {
    const { status } = await gateway.api('/v1/deploys/diff')
    if (status === 503) refusals++
    return status
  })
  await until(() => refusals === 8)
  assert.equal((await gateway.put(fakeDocument('second'))).status, 200)
  release()
  assert.deepEqual((await Promise.all(answers)).sort(), [...Array(4).fill(200), ...Array(8).fill(503)])
})

test('a start without Vault fails with the line of the reference, and stores no secret', async (t) => {
  const vault = await VaultServer.start(t)
  await vault.stop()
  const gateway = new GatewayProcess(t, { document: documentFor(vault), env: { T: 'x' } })
  const error = await gateway.startError()
  assert.match(
    error ?? '',
    /gateway\.yaml:5:\d+: \$\{vault:app#password\} cannot be read: Vault at .*connection refused.*check that/,
  )
  assert.ok(gateway.log('vault.waiting').length > 0)
})

test('a rotated value that the document cannot use is refused, and the previous one stays', async (t) => {
  const { vault, gateway, body } = await started(t)
  const text = documentFor(vault).replace('body: "', 'headers: { x-key: "${vault:app#password}" }, body: "')
  assert.equal((await gateway.put(text)).status, 200)
  vault.secrets.set(APP, { password: 'line\r\nx-evil: 1' })
  await until(() => gateway.log('config.invalid').length > 0)
  assert.equal(await body(), 's3cret-1')
  assert.doesNotMatch(JSON.stringify(gateway.log('config.invalid')), /x-evil/)
})

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
}
