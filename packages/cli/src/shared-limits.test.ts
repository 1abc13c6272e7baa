import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { RedisServer, redisSkip } from '@sluice/gateway/testing/redis-server'
import { AUDIENCE, ENTITY, goodAssertion, idp as idpPair } from '@sluice/policies-xml/testing/saml-issuer'
import {
  fileWith,
  gw,
  type Outcome,
  type RunningGateway,
  scratch,
  spawnGw,
  startGateway,
  until,
} from './testing.js'

// What worker processes admit together, in one gateway and in several with one server.

const LIMIT = 500
const OFFERED = 4 * LIMIT
/** At once: enough that every worker gets connections. */
const CONNECTIONS = 32

/** @param routes more of them, as YAML. */
function documentOf(workers: number, policy: string, state = '', routes = ''): string {
  return `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: ${workers}
${state}
routes: [{ id: all, respond: { status: 204 }, policies: [{ id: p, ${policy} }] }${routes}]
log: { sink: none }
`
}

/** Nothing comes back while the test runs. */
const RATE = `use: rate-limit, with: { limit: 1/d, burst: ${LIMIT}, key: '"all"' }`

/** Offers four times the limit to all gateways in turn, and answers how many requests passed. */
async function admittedBy(
  t: TestContext,
  gateways: readonly RunningGateway[],
  offered = OFFERED,
): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  t.after(() => agent.destroy())
  let admitted = 0
  let sent = 0
  const client = async (): Promise<void> => {
    while (sent < offered)
      if ((await statusOf(gateways[sent++ % gateways.length]!.url, agent)) === 204) admitted++
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, client))
  return admitted
}

function statusOf(url: string, agent: http.Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent }, (res) => {
      assert.ok([204, 429].includes(res.statusCode!), String(res.statusCode))
      res.resume().on('end', () => resolve(res.statusCode!))
    })
    request.on('error', reject)
  })
}

function assertLimit(admitted: number): void {
  assert.ok(admitted <= LIMIT && admitted >= 0.99 * LIMIT, `${admitted} of ${LIMIT} were admitted`)
}

test('gateways with a shared state server enforce a common limit and one-time use across workers', {
  skip: redisSkip,
}, async (t) => {
  const server = await RedisServer.start(t)
  // On a busy machine an answer may take longer than by default, and then each gateway counts for itself.
  const state = `state: { url: "redis://127.0.0.1:${server.port}", timeout: 5s }`
  const secret = 'a secret of more than 16 bytes'
  const hmac = {
    use: 'hmac-signature',
    with: { preset: 'custom', header: 'x-sig', payload: '{{path}}', secrets: [secret], replay: {} },
  }
  const idp = { entityId: ENTITY, certificates: [idpPair.certificatePem] }
  const saml = { use: 'saml', with: { idp, audience: AUDIENCE, once: true } }
  const routes = Object.entries({ hmac, saml }).map(
    ([id, policy]) =>
      `, { id: ${id}, match: { path: /${id} }, respond: { status: 204 }, policies: [${JSON.stringify(policy)}] }`,
  )
  const document = documentOf(2, RATE, state, routes.join(''))
  const gateways = await Promise.all([1, 2].map(() => startGateway(t, document)))
  assertLimit(await admittedBy(t, gateways))
  const headers = {
    'x-sig': createHmac('sha256', secret).update('/hmac').digest('hex'),
    'x-saml-assertion': Buffer.from(goodAssertion()).toString('base64'),
  }
  // Each on a connection of its own, so that all workers get some.
  const ask = async (i: number, path: string) =>
    (await fetch(gateways[i % 2]!.url + path, { headers: { ...headers, connection: 'close' } })).status
  for (const path of ['/hmac', '/saml']) {
    const statuses = await Promise.all(Array.from({ length: 40 }, (_, i) => ask(i, path)))
    assert.deepEqual(statuses.sort(), [204, ...Array.from({ length: 39 }, () => 401)], path)
  }
  const status = async (): Promise<string> =>
    (await gw(['status'], { env: { GW_SERVER: gateways[0]!.admin, GW_TOKEN: '' } })).stdout
  assert.doesNotMatch(await status(), /state:/)
  await server.kill()
  assert.notEqual(await ask(0, '/hmac'), 204)
  await until(async () => /\nstate: not used by 2 of 2 workers: the server .+\n/.test(await status()))
})

test('4 workers share the limit, and one fetches the backend token for all', async (t) => {
  let issued = 0
  const server = http.createServer((req, res) => {
    if (req.url === '/token')
      setTimeout(() => res.end(JSON.stringify({ access_token: `t${++issued}`, expires_in: 3600 })), 50)
    else res.end(req.headers.authorization)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const oauth2 = `{ grant: client-credentials, tokenUrl: "${origin}/token", clientId: gateway, clientSecret: a-secret }`
  const policy = `{ use: backend-auth, with: { oauth2: ${oauth2} } }`
  const route = `, { id: backend, match: { path: /backend }, upstream: o, policies: [${policy}] }`
  const gateway = await startGateway(
    t,
    documentOf(4, RATE, `upstreams: { o: { targets: ["${origin}"] } }`, route),
  )
  assertLimit(await admittedBy(t, [gateway]))
  const ask = async () => (await fetch(`${gateway.url}/backend`, { headers: { connection: 'close' } })).text()
  const tokens = await Promise.all(Array.from({ length: 40 }, ask))
  assert.deepEqual([new Set(tokens), issued], [new Set(['Bearer t1']), 1])
})

test('quotas survive a restart, and operators can change them and lift bans', async (t) => {
  const policy =
    'use: quota, with: { limit: 100, per: month, key: \'req.header["x-k"]\', onMissingKey: deny }'
  const ban =
    'use: client-ban, with: { key: \'req.header["x-k"]\', threshold: 2, count: res.status == 204, growth: 100, maxBan: 1d }'
  const route = `, { id: banned, match: { path: /banned }, respond: { status: 204 }, policies: [{ id: b, ${ban} }] }`
  const config = fileWith(t, documentOf(2, policy, '', route))
  const dataDir = scratch(t)
  const start = async () => {
    const gateway = spawnGw(t, ['start', '-c', config, '--data-dir', dataDir])
    await until(() => gateway.stdout().includes('admin API on'), gateway.stderr)
    const url = /listening on (\S+)/.exec(gateway.stdout())![1]!
    const env = { GW_SERVER: /admin API on (\S+)/.exec(gateway.stdout())![1]!, GW_TOKEN: '' }
    return { url, gateway, run: (...args: string[]) => gw([...args], { env }) }
  }
  const ask = async (url: string) => (await fetch(url, { headers: { 'x-k': 'acme' } })).status
  const assertAdmits = async (url: string, expected: number) => {
    let passed = 0
    // A worker returns tokens that it has taken in advance after a moment.
    await until(async () => {
      while ((await ask(url)) === 204) passed++
      return passed >= expected
    })
    assert.equal(passed, expected)
  }

  const first = await start()
  for (let i = 0; i < 40; i++) assert.equal(await ask(first.url), 204)
  first.gateway.process.kill('SIGTERM')
  assert.equal(await first.gateway.exited, 0)

  const second = await start()
  const shown = JSON.parse((await second.run('quota', 'get', 'p', 'acme', '-o', 'json')).stdout)
  const [{ resetAt, ...count }] = shown.counts
  assert.deepEqual(count, {
    policy: 'p',
    limit: '100/month',
    place: '',
    key: 'acme',
    used: 40,
    remaining: 60,
  })
  assert.ok(Date.parse(resetAt) > Date.now())
  await assertAdmits(second.url, 60)
  const set = await second.run('quota', 'set', 'p', 'acme', '95')
  assert.match(set.stdout, /acme +95 +5 /)
  await until(async () => (await ask(second.url)) === 204)
  await assertAdmits(second.url, 4)
  assert.match((await second.run('quota', 'reset', 'p', 'acme')).stdout, /reset counters: 1/)
  await until(async () => (await ask(second.url)) === 204)
  assert.equal((await second.run('quota', 'get', 'nobody')).code, 1)
  assert.equal((await second.run('quota', 'set', 'p', 'acme', '-1')).code, 64)
  assert.equal((await second.run('limits', 'get')).code, 0)
  assert.equal((await second.run('quota', 'reset', 'p', '--yes')).code, 0)
  await assertBans(`${second.url}/banned`, (...args) => second.run('bans', ...args))
})

/** Of the policy `b`, which bans whoever has had two answers. */
async function assertBans(url: string, run: (...args: string[]) => Promise<Outcome>): Promise<void> {
  const ask = async (key: string) =>
    (await fetch(url, { headers: { 'x-k': key, connection: 'close' } })).status
  /** By both workers: each hears of what the other has banned a moment later. */
  const ban = (key: string) =>
    until(async () => {
      const statuses = await Promise.all(Array.from({ length: 16 }, () => ask(key)))
      return statuses.every((status) => status === 429)
    })
  /** Neither worker bans the caller: it is counted anew, so one request more is enough to be banned again. */
  const isFree = async (key: string) => (await ask(key)) === 204

  assert.match((await run('list')).stdout, /^POLICY +CALLER +UNTIL\s*$/)
  await ban('a')
  await ban('b')
  const shown = JSON.parse((await run('list', 'b', '-o', 'json')).stdout)
  assert.deepEqual(
    shown.bans.map((one: { key: string }) => one.key),
    ['a', 'b'],
  )
  const minutes = (Date.parse(shown.bans[0].until) - Date.now()) / 60_000
  assert.ok(minutes > 9 && minutes <= 10, `${minutes} minutes`)
  assert.match((await run('lift', 'b', 'a')).stdout, /lifted bans: 1/)
  await until(() => isFree('a'))
  assert.equal(await ask('b'), 429)
  await ban('a')
  const again = JSON.parse((await run('list', '-o', 'json')).stdout)
  assert.ok(Date.parse(again.bans[0].until) - Date.now() <= 600_000, 'it begins with the shortest ban')
  assert.equal((await run('lift', 'b')).code, 64, 'nobody can be asked')
  assert.match((await run('lift', 'b', '--yes')).stdout, /lifted bans: 2/)
  await until(() => isFree('b'))
  assert.match((await run('lift', 'b', 'c')).stdout, /lifted bans: 0/)
  assert.equal((await run('lift', 'other', '--yes')).code, 1)
}
