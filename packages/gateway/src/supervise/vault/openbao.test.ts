import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { closedPort } from '../../testing/origin.js'
import { until } from '../testing/until.js'
import { requestOf, vaultReader } from './testing/reading.js'

const command = process.env['SLUICE_OPENBAO'] ?? ''
const skip = command === '' ? 'SLUICE_OPENBAO is not set (npm run services -- openbao)' : false

/** Starts a server with a KV engine at `secret`, and returns its address and a function that calls its API. */
async function openBao(t: TestContext) {
  const address = `127.0.0.1:${await closedPort()}`
  const args = [
    'server',
    '-dev',
    '-dev-no-store-token',
    '-dev-root-token-id=root',
    `-dev-listen-address=${address}`,
  ]
  const server = spawn(command, args, { stdio: 'ignore' })
  t.after(() => server.kill('SIGKILL'))
  const url = `http://${address}`
  const call = async (method: string, path: string, body?: object): Promise<Record<string, never>> => {
    const headers = { 'x-vault-token': 'root' }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(`${url}/v1/${path}`, init)
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.status === 204 ? {} : ((await response.json()) as Record<string, never>)
  }
  await until(() => call('GET', 'secret/config').catch(() => null))
  const write = (password: string) => call('POST', 'secret/data/app/db', { data: { password } })
  await write('first')
  return { url, call, write }
}

test('OpenBao: a token reads KV 2 and KV 1, and refusals name the path', { skip }, async (t) => {
  const { url, call } = await openBao(t)
  const { read } = vaultReader(t)
  const settings = { address: url, auth: { token: 'root' } }
  assert.deepEqual(await read(settings, ['app/db#password']), ['first'])
  await call('POST', 'sys/mounts/old/kv', { type: 'kv', options: { version: '1' } })
  await call('POST', 'old/kv/app', { password: 'of v1' })
  assert.deepEqual(await read({ ...settings, mount: 'old/kv', engine: 'kv-v1' }, ['app#password']), ['of v1'])
  const { auth } = await call('POST', 'auth/token/create', { policies: ['default'] })
  const weak = { address: url, auth: { token: (auth as unknown as { client_token: string }).client_token } }
  assert.match(
    (await read(weak, ['app/db#password']))[0]!,
    /403: .*permission denied for secret\/data\/app\/db/,
  )
  assert.match((await read(settings, ['app/x#y']))[0]!, /no secret at secret\/data\/app\/x/)
  await call('DELETE', 'secret/data/app/db')
  assert.match((await read(settings, ['app/db#password']))[0]!, /no secret at secret\/data\/app\/db/)
})

test('OpenBao: an AppRole logs in, renews its token, survives a revocation and finds a new value', {
  skip,
}, async (t) => {
  const { url, call, write } = await openBao(t)
  await call('POST', 'sys/policies/acl/app', {
    policy: 'path "secret/data/app/*" { capabilities = ["read"] }',
  })
  await call('POST', 'sys/auth/approle', { type: 'approle' })
  await call('POST', 'auth/approle/role/gw', { token_policies: 'app', token_ttl: '3s', token_max_ttl: '6s' })
  const role = await call('GET', 'auth/approle/role/gw/role-id')
  const secret = await call('POST', 'auth/approle/role/gw/secret-id')
  const { role_id: roleId } = role['data'] as unknown as { role_id: string }
  const { secret_id: secretId } = secret['data'] as unknown as { secret_id: string }
  const { secrets, log } = vaultReader(t)
  const request = requestOf({ address: url, auth: { appRole: { roleId, secretId } }, refresh: '1s' }, [
    'app/db#password',
  ])
  const found: unknown[] = []
  const serve = async (): Promise<void> => {
    const reading = await secrets.read(request)
    found.push(...reading.values.values())
    secrets.serve(reading, () => true)
  }
  secrets.onRotated = serve
  await serve()
  const accessors = async (): Promise<number> =>
    ((await call('LIST', 'auth/token/accessors'))['data'] as unknown as { keys: string[] }).keys.length
  // Past the maximum lifetime of the first token, a second login has happened, and nothing failed.
  const seen: number[] = []
  await until(async () => seen.push(await accessors()) > 0 && Math.max(...seen) > 2)
  await write('second')
  await until(() => found.length === 2)
  await call('POST', 'auth/approle/role/gw', { token_policies: 'app', token_ttl: '1h', token_max_ttl: '2h' })
  await call('POST', 'sys/leases/revoke-prefix/auth/approle', {})
  await write('third')
  await until(() => found.length === 3)
  assert.deepEqual(found, ['first', 'second', 'third'])
  assert.doesNotMatch(log(), new RegExp(`vault\\.failed|first|second|third|${secretId}`))
})

test('OpenBao: namespaces separate secrets', { skip }, async (t) => {
  const { url, call } = await openBao(t)
  await call('POST', 'sys/namespaces/team', {})
  await call('POST', 'team/sys/mounts/secret', { type: 'kv', options: { version: '2' } })
  await until(() =>
    call('POST', 'team/secret/data/app/db', { data: { password: 'of the team' } }).catch(() => null),
  )
  const { read } = vaultReader(t)
  const settings = { address: url, auth: { token: 'root' }, namespace: 'team' }
  assert.deepEqual(await read(settings, ['app/db#password']), ['of the team'])
})
