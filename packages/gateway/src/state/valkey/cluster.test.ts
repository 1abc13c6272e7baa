import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { type LimitRule, StateUnavailable } from '@sluice/core'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import { until } from '../../testing/gateway.js'
import { closedPort, rawOrigin } from '../../testing/origin.js'
import { testConformance } from '../testing/conformance.js'
import { layoutOf, startFakeNode } from '../testing/fake-cluster.js'
import { idOf, keyOn, RedisCluster, slotOf, startWholeNode } from '../testing/redis-cluster.js'
import { openStore, type RedisServer, redisSkip, statePlanOf } from '../testing/redis-server.js'
import { readLayout, readRedirect } from './cluster-layout.js'

const skip = redisSkip
const RULE: LimitRule = { algorithm: 'gcra', limit: 10, periodMs: 3_600_000, burst: 10 }
const LONG_MS = 600_000

/** One cluster for all tests; the last ones remove nodes from it. */
const file = { after: (end: unknown) => after(end as () => Promise<void>) }
const cluster = redisSkip === false ? await RedisCluster.start(file, 2) : null
let stores = 0

function planOf(overrides: Parameters<typeof statePlanOf>[1] = {}) {
  return statePlanOf(0, { url: null, cluster: cluster!.urls, keyPrefix: `test${++stores}:`, ...overrides })
}

async function opened(t: TestContext, overrides: Parameters<typeof planOf>[0] = {}) {
  const plan = planOf(overrides)
  const one = openStore(t, plan)
  await one.isUp()
  /** Returns a key of the node with this number. */
  const keyAt = (at: number): string => keyOn(at, plan.keyPrefix)
  return { ...one, plan, keyAt }
}

if (cluster !== null) testConformance('Redis cluster', async (t) => (await opened(t)).store)

test('keys are spread over all nodes, listed and deleted on all, and visible to other stores', {
  skip,
}, async (t) => {
  const { store, plan } = await opened(t)
  const { store: other } = await opened(t, { keyPrefix: plan.keyPrefix, cluster: [cluster!.urls[2]!] })
  const keys = Array.from({ length: 60 }, (_, i) => `many:${i}`)
  await Promise.all(keys.map((key) => store.add(key, 1, LONG_MS)))
  for (const node of cluster!.primaries) assert.notEqual(node.cli('keys', `${plan.keyPrefix}many:*`), '')
  assert.deepEqual((await other.list('many:', 100)).sort(), keys.sort())
  assert.equal(await other.deleteAll('many:'), keys.length)
  assert.deepEqual(await store.list('', 100), [])
})

test('a moving slot is followed key by key and then as a whole, to a new node', {
  skip,
}, async (t) => {
  const { store, plan, keyAt } = await opened(t)
  const [source, target] = [cluster!.primaries[0]!, cluster!.others[0]!]
  const key = keyAt(0)
  const name = plan.keyPrefix + key
  const slot = String(slotOf(name))
  assert.equal((await store.take(key, RULE, 4)).granted, 4)
  target.cli('cluster', 'setslot', slot, 'importing', idOf(source))
  source.cli('cluster', 'setslot', slot, 'migrating', idOf(target))
  assert.equal((await store.take(key, RULE, 1)).remaining, 5)
  source.cli('migrate', '127.0.0.1', String(target.port), name, '0', '5000')
  assert.match(source.cli('exists', name), /^ASK /)
  assert.equal((await store.take(key, RULE, 1)).remaining, 4)
  for (const node of [target, source]) node.cli('cluster', 'setslot', slot, 'node', idOf(target))
  const results = await Promise.all(Array.from({ length: 4 }, () => store.take(key, RULE, 1)))
  assert.deepEqual(results.map(({ remaining }) => remaining).sort(), [0, 1, 2, 3])
  assert.deepEqual(await store.list('', 10), [key])
  assert.equal(store.counts.refused, 0)
})

test('a hanging node delays only its own keys, and later calls fail at once', {
  skip,
}, async (t) => {
  const { store, events, keyAt, isUp } = await opened(t, { timeoutMs: 500 })
  const stopped = cluster!.primaries[0]!
  stopped.signal('SIGSTOP')
  t.after(() => stopped.signal('SIGCONT'))
  const isPartial = (error: unknown): boolean => error instanceof StateUnavailable && error.isPartial
  await assert.rejects(
    store.add(keyAt(0), 1, LONG_MS),
    (error: Error) => isPartial(error) && /within 500 ms/.test(error.message),
  )
  // No exact number: layout queries count as well, and any node may answer those late on a busy machine.
  const { late: lateCalls, refused } = store.counts
  assert.ok(lateCalls >= 1)
  await assert.rejects(store.add(keyAt(0), 1, LONG_MS), isPartial)
  assert.ok(store.counts.refused > refused, 'the call is not sent')
  assert.equal(await store.add(keyAt(1), 1, LONG_MS), 1)
  assert.equal(await store.add(keyAt(2), 1, LONG_MS), 1)
  await assert.rejects(store.deleteAll(''), StateUnavailable)
  assert.equal(await store.add(keyAt(1), 0, LONG_MS), 0)
  const late = openStore(t, planOf({ timeoutMs: 500, keyPrefix: 'late:' }))
  const counted = (): Promise<number> => late.store.add(keyOn(1, 'late:'), 1, LONG_MS).catch(() => 0)
  await until(async () => (await counted()) > 0)
  await assert.rejects(late.store.add(keyOn(0, 'late:'), 1, LONG_MS), isPartial)
  stopped.signal('SIGCONT')
  await isUp()
  assert.ok((await store.add(keyAt(0), 1, LONG_MS)) >= 1)
  assert.ok(events.some((event) => event.startsWith('state_unavailable')))
})

test('a node failure affects only its keys, and its promoted replica is found with its data', {
  skip,
}, async (t) => {
  const { store, keyAt, isUp } = await opened(t)
  const [primary, replica] = [cluster!.primaries[1]!, cluster!.others[1]!]
  replica.cli('cluster', 'replicate', idOf(primary))
  await store.take(keyAt(1), RULE, 7)
  const taken = replicationOf(primary, 'master_repl_offset')
  await until(() => replica.cli('info', 'replication').includes('master_link_status:up'))
  await until(() => replicationOf(replica, 'slave_repl_offset') >= taken)
  await primary.kill()
  await until(() => store.problem !== null)
  await assert.rejects(store.take(keyAt(1), RULE, 1), (error: StateUnavailable) => error.isPartial)
  assert.deepEqual([await store.get(keyAt(0)), await store.get(keyAt(2))], [null, null])
  replica.cli('cluster', 'failover', 'takeover')
  await isUp()
  assert.equal((await store.take(keyAt(1), RULE, 10)).granted, 3)
})

test('all nodes are contacted over TLS with the configured user and name', { skip }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-cluster-tls-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const { cert, key } = FAKE_CERTIFICATES.localhost
  const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
  const tlsPort = String(await closedPort())
  const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certFile]
  const node = await startWholeNode(t, [
    '--tls-port',
    tlsPort,
    '--tls-auth-clients',
    'no',
    '--tls-cluster',
    'yes',
    ...files,
  ])
  node.cli('acl', 'setuser', 'gateway', 'on', '>s3cret', '~*', '+@all')
  node.cli('acl', 'setuser', 'default', 'off')
  const user = { username: 'gateway', password: 's3cret' }
  const base = { cluster: [`rediss://127.0.0.1:${tlsPort}`], ...user }
  const named = await opened(t, {
    ...base,
    tls: { caFile: certFile, servername: 'localhost', insecure: false },
  })
  assert.equal(await named.store.add('c', 2, LONG_MS), 2)
  const other = openStore(
    t,
    planOf({ ...base, tls: { caFile: certFile, servername: 'other.example', insecure: false } }),
  )
  const wrong = openStore(
    t,
    planOf({
      ...base,
      password: 'wr0ng',
      tls: { caFile: certFile, servername: 'localhost', insecure: false },
    }),
  )
  await until(() => other.events.some((event) => event.includes('altnames')))
  await until(() => wrong.events.some((event) => event.includes('WRONGPASS')))
  assert.ok(!wrong.events.join().includes('wr0ng'))
})

test('credentials are sent to discovered nodes only over TLS if TLS is configured', async (t) => {
  const heard: Buffer[] = []
  const plain = await rawOrigin(t, (socket) => void socket.on('data', (data: Buffer) => heard.push(data)))
  const server = createTlsServer(FAKE_CERTIFICATES.localhost)
  const seed = await startFakeNode(t, () => layoutOf([[0, 16_383, '127.0.0.1', plain.port]]), server)
  openStore(
    t,
    statePlanOf(0, {
      ...{ url: null, cluster: [`rediss://127.0.0.1:${seed.port}`], password: 's3cret' },
      tls: { caFile: null, servername: null, insecure: true },
    }),
  )
  await until(() => heard.length > 0)
  assert.equal(heard[0]![0], 22, 'the beginning of a TLS handshake')
  assert.ok(!Buffer.concat(heard).includes('s3cret'))
})

/** Opens a store for a cluster with this single node. */
async function fakeCluster(
  t: TestContext,
  layout: (port: number) => string,
  answer: (port: number) => string,
) {
  const node = await startFakeNode(t, ([command], port) =>
    command === 'CLUSTER' ? layout(port) : answer(port),
  )
  const plan = statePlanOf(0, { url: null, cluster: [`redis://127.0.0.1:${node.port}`], timeoutMs: 200 })
  return { node, ...openStore(t, plan) }
}

test('an invalid answer to CLUSTER SLOTS is rejected', async (t) => {
  const entry = (from: string, to: string, host: string, port: string): string =>
    `*1\r\n*3\r\n${from}\r\n${to}\r\n*2\r\n${host}\r\n${port}\r\n`
  const good = '$9\r\n127.0.0.1'
  const lies = [
    '*0\r\n',
    ':1\r\n',
    '-ERR This instance has cluster support disabled\r\n',
    '*1\r\n*1\r\n:0\r\n',
    entry(':0', ':300000000', good, ':1'),
    entry(':0', ':9007199254740991', good, ':1'),
    entry(':-1', ':5', good, ':1'),
    entry(':9', ':5', good, ':1'),
    entry('$1\r\n0', ':5', good, ':1'),
    entry(':0', ':5', '$1\r\n?', ':1'),
    entry(':0', ':5', '$8\r\na/b@c:1#', ':1'),
    entry(':0', ':5', good, ':70000'),
    layoutOf(Array.from({ length: 200 }, (_, i) => [i, i, '127.0.0.1', i + 1] as const)),
  ]
  for (const lie of lies) {
    const { store, node, events } = await fakeCluster(
      t,
      () => lie,
      () => '+OK\r\n',
    )
    await until(() => events.some((event) => event.startsWith('state_unavailable')))
    await assert.rejects(store.take('l', RULE, 1), StateUnavailable, JSON.stringify(lie.slice(0, 50)))
    assert.ok(node.commands.every(([command]) => command === 'CLUSTER'))
    store.close()
  }
})

test('redirect loops, redirects to nowhere and to another slot are abandoned', async (t) => {
  const slot = slotOf('test:k')
  const whole = (port: number): string => layoutOf([[0, 16_383, '127.0.0.1', port]])
  const nobody = await closedPort()
  const silent = await rawOrigin(t, () => {})
  const asked: [answer: (port: number) => string, most: number][] = [
    [(port) => `-MOVED ${slot} 127.0.0.1:${port}\r\n`, 6],
    [(port) => `-ASK ${slot} 127.0.0.1:${port}\r\n`, 11],
    [() => `-MOVED ${slot} 127.0.0.1:${nobody}\r\n`, 1],
    [() => `-MOVED ${slot} 127.0.0.1:${silent.port}\r\n`, 1],
    [(port) => `-MOVED ${(slot + 1) % 16_384} 127.0.0.1:${port}\r\n`, 1],
    [(port) => `-MOVED ${slot} 127.0.0.1:${port}x\r\n`, 1],
    [() => '-CLUSTERDOWN The cluster is down\r\n', 1],
  ]
  for (const [answer, most] of asked) {
    const { store, node, isUp } = await fakeCluster(t, whole, answer)
    await isUp()
    await assert.rejects(store.get('k'), StateUnavailable)
    const sent = node.commands.filter(([command]) => command !== 'CLUSTER').length
    assert.ok(sent <= most, `${sent} of ${most}: ${answer(1)}`)
    store.close()
  }
})

test("node hosts are parsed as in URLs, and a missing host is the asked node's", () => {
  const node = (host: string | null, port: unknown = 7): unknown => [
    [0, 5, [host === null ? null : Buffer.from(host), port]],
  ]
  const addressOf = (host: string | null): string => readLayout(node(host), '10.0.0.1:1')[0]!.address
  assert.equal(addressOf('Valkey-0.example'), 'valkey-0.example:7')
  assert.equal(addressOf('fd00::1'), '[fd00::1]:7')
  assert.equal(addressOf(''), '10.0.0.1:7')
  assert.equal(addressOf(null), '10.0.0.1:7')
  assert.deepEqual(readRedirect('MOVED 3999 :6381', '[fd00::2]:1'), {
    kind: 'MOVED',
    slot: 3999,
    address: '[fd00::2]:6381',
  })
  assert.equal(readRedirect('ASK 1 fd00::1:6381', 'a:1')!.address, '[fd00::1]:6381')
  assert.equal(readRedirect('MOVED 1 a b:6381', 'a:1'), null)
})

/** Returns a node's replication offset in bytes. */
function replicationOf(node: RedisServer, name: string): number {
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(node.cli('info', 'replication'))?.[1])
}
