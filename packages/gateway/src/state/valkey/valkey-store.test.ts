import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { type LimitRule, StateUnavailable } from '@sluice/core'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import { until } from '../../testing/gateway.js'
import { closedPort, rawOrigin } from '../../testing/origin.js'
import { testConformance } from '../testing/conformance.js'
import { openStore, RedisServer, redisSkip, statePlanOf } from '../testing/redis-server.js'

const RULE: LimitRule = { algorithm: 'gcra', limit: 10, periodMs: 3_600_000, burst: 10 }
const LONG_MS = 600_000

async function start(t: TestContext, args: readonly string[] = [], timeoutMs = 5000) {
  const server = await RedisServer.start(t, args)
  const opened = openStore(t, statePlanOf(server.port, { timeoutMs }))
  await opened.isUp()
  return { server, ...opened }
}

if (redisSkip === false) {
  // All tests share a server, each with its own keys.
  const server = await RedisServer.start({ after: (end) => after(end as () => Promise<void>) })
  let stores = 0
  testConformance('Redis', async (t) => {
    const { store, isUp } = openStore(t, statePlanOf(server.port, { keyPrefix: `test${++stores}:` }))
    await isUp()
    return store
  })
}

test('over TLS only a server with a trusted certificate is accepted', {
  skip: redisSkip,
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-redis-tls-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const { cert, key } = FAKE_CERTIFICATES.localhost
  const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
  const port = await closedPort()
  const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certFile]
  await RedisServer.start(t, ['--tls-port', String(port), '--tls-auth-clients', 'no', ...files])
  const url = `rediss://localhost:${port}`
  const tls = { caFile: certFile, servername: null, insecure: false }
  const trusting = openStore(t, statePlanOf(port, { url, tls }))
  const wary = openStore(t, statePlanOf(port, { url }))
  await trusting.isUp()
  assert.equal(await trusting.store.add('c', 2, LONG_MS), 2)
  // Only the first problem is reported, and on a busy machine that may be another one.
  await until(() => wary.store.problem?.includes('certificate') === true)
})

test('two stores share the keys of the same prefix only', { skip: redisSkip }, async (t) => {
  const { server, store } = await start(t)
  const other = openStore(t, statePlanOf(server.port))
  const stranger = openStore(t, statePlanOf(server.port, { keyPrefix: 'other:' }))
  const inSecond = openStore(t, statePlanOf(server.port, { url: `redis://127.0.0.1:${server.port}/1` }))
  await Promise.all([other.isUp(), stranger.isUp(), inSecond.isUp()])
  assert.equal((await store.take('l', RULE, 6)).granted, 6)
  assert.equal((await other.store.take('l', RULE, 6)).granted, 4)
  assert.equal((await stranger.store.take('l', RULE, 6)).granted, 6)
  assert.equal((await inSecond.store.take('l', RULE, 6)).granted, 6)
  assert.equal(await stranger.store.deleteAll(''), 1)
  assert.deepEqual(await store.list('', 10), ['l'])
})

test('a killed server is unavailable at once, and after a restart usable again with scripts', {
  skip: redisSkip,
}, async (t) => {
  const { server, store, events, isUp } = await start(t)
  await store.take('l', RULE, 10)
  await server.kill()
  await until(() => store.problem !== null)
  await assert.rejects(store.take('l', RULE, 1), StateUnavailable)
  server.run()
  await isUp()
  assert.equal((await store.take('l', RULE, 10)).granted, 10)
  assert.equal(await store.add('c', 1, LONG_MS), 1)
  assert.deepEqual(
    events.map((event) => event.split(' ')[0]),
    ['state_available', 'state_unavailable', 'state_available'],
  )
})

test('a hanging server times out, then gets no calls until it is reconnected', {
  skip: redisSkip,
}, async (t) => {
  const { server, store, events, isUp } = await start(t, [], 100)
  server.signal('SIGSTOP')
  await assert.rejects(store.add('c', 1, LONG_MS), /did not answer within 100 ms/)
  await assert.rejects(store.add('c', 1, LONG_MS), StateUnavailable)
  assert.deepEqual([store.counts.late, store.counts.refused], [1, 1])
  await until(() => events.length > 1)
  server.signal('SIGCONT')
  await isUp()
  // On a busy machine an answer takes longer than the 100 ms timeout of this store.
  await until(() =>
    store.add('c', 1, LONG_MS).then(
      (count) => count >= 1,
      () => false,
    ),
  )
})

test('a server without memory refuses, and its message is reported', { skip: redisSkip }, async (t) => {
  const { server, store } = await start(t, ['--maxmemory-policy', 'noeviction'])
  server.cli('config', 'set', 'maxmemory', '1')
  await assert.rejects(store.set('v', Buffer.from('x'), LONG_MS), /OOM command not allowed/)
  await assert.rejects(store.take('l', RULE, 1), /OOM command not allowed/)
  await assert.rejects(store.add('c', 1, LONG_MS), /OOM command not allowed/)
  server.cli('config', 'set', 'maxmemory', '0')
  assert.equal((await store.take('l', RULE, 1)).granted, 1)
})

test('a wrong password makes the store unavailable and is not logged; the right one works', {
  skip: redisSkip,
}, async (t) => {
  const server = await RedisServer.start(t, ['--requirepass', 'right'])
  const wrong = openStore(t, statePlanOf(server.port, { password: 'wr0ng-secret' }))
  const right = openStore(t, statePlanOf(server.port, { password: 'right' }))
  await right.isUp()
  // Only the first problem is reported, and on a busy machine that may be another one.
  await until(() => wrong.store.problem?.includes('WRONGPASS') === true)
  assert.match(wrong.events.join(), /^state_unavailable /)
  assert.ok(!wrong.events.join().includes('wr0ng-secret'))
  await assert.rejects(wrong.store.get('k'), (error: Error) => !error.message.includes('wr0ng-secret'))
})

test('a primary that becomes a replica is dropped for the new primary, which has the data', {
  skip: redisSkip,
}, async (t) => {
  const { server, store, events } = await start(t)
  const replica = await RedisServer.start(t, ['--replicaof', '127.0.0.1', String(server.port)])
  await store.take('l', RULE, 7)
  await until(() => replica.cli('exists', 'test:l') === '1')
  replica.cli('replicaof', 'no', 'one')
  server.cli('replicaof', '127.0.0.1', String(replica.port))
  await assert.rejects(store.add('c', 1, LONG_MS), StateUnavailable)
  assert.match(events.at(-1)!, /read-only replica/)
  const promoted = openStore(t, statePlanOf(replica.port))
  await promoted.isUp()
  assert.equal((await promoted.store.take('l', RULE, 10)).granted, 3)
})

/** Starts a server that answers greetings correctly, and everything else with this. */
async function liar(t: TestContext, lie: (write: (bytes: string | Buffer) => void) => void): Promise<number> {
  const { port } = await rawOrigin(t, (socket) => {
    socket.on('error', () => {})
    socket.on('data', (data: Buffer) => {
      const text = data.toString('latin1')
      const greetings = text.match(/\r\n(CLIENT|HELLO|SELECT)\r\n/g)?.length ?? 0
      if (greetings > 0) socket.write('+OK\r\n'.repeat(greetings))
      else lie((bytes) => void socket.write(bytes))
    })
  })
  return port
}

test('invalid answers are rejected, and redirects to another host are not followed', async (t) => {
  const elsewhere = { connections: 0 }
  const other = await rawOrigin(t, () => void elsewhere.connections++)
  const lies = [
    '\x00\xff garbage\r\n\r\n',
    '*-5\r\n$-9\r\n',
    ':12\r\n',
    '$3\r\nabc\r\n',
    '*4\r\n$1\r\nx\r\n$1\r\nx\r\n$1\r\nx\r\n$1\r\nx\r\n',
    `-MOVED 1 127.0.0.1:${other.port}\r\n`,
    `-ASK 1 127.0.0.1:${other.port}\r\n`,
    `${'*1\r\n'.repeat(50_000)}`,
  ]
  for (const lie of lies) {
    const port = await liar(t, (write) => write(lie))
    const { store, isUp } = openStore(t, statePlanOf(port, { timeoutMs: 100 }))
    await isUp()
    await assert.rejects(store.take('l', RULE, 1), StateUnavailable, JSON.stringify(lie.slice(0, 30)))
    store.close()
  }
  assert.equal(elsewhere.connections, 0)
})

test('an endless value is abandoned with its connection', async (t) => {
  let sent = 0
  const port = await liar(t, (write) => {
    write('$536870912\r\n')
    const timer = setInterval(() => write(Buffer.alloc(1024)), 5)
    t.after(() => clearInterval(timer))
    sent++
  })
  const { store, events, isUp } = openStore(t, statePlanOf(port, { timeoutMs: 50 }))
  await isUp()
  await assert.rejects(store.get('k'), StateUnavailable)
  await until(() => events.filter((event) => event === 'state_available').length > 1)
  assert.equal(sent, 1)
})
