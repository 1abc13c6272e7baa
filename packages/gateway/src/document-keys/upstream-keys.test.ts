import assert from 'node:assert/strict'
import dns from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { TestContext } from 'node:test'
import { Exchange } from '@sluice/core'
import { until } from '../testing/gateway.js'
import { answering, closedPort, httpOrigin, rawOrigin } from '../testing/origin.js'
import { connectRaw } from '../testing/raw-connection.js'
import { ok, scriptedOrigin } from '../testing/scripted-origin.js'
import { bodies, compiledUpstream, named, serve, testKeys } from './testing/key-tests.js'
import { CHECK_KEYS } from './testing/upstream-check-keys.js'
import { connectionKeys } from './testing/upstream-connection-keys.js'
import { nameKeys } from './testing/upstream-name-keys.js'
import { canaryKeys, mirrorKeys, sessionKeys } from './testing/upstream-share-keys.js'
import { STATE_KEYS } from './testing/upstream-state-keys.js'

const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'

/** Returns the response of a gateway that balances over the targets `a` and `b`. */
async function balanced(t: TestContext, more: object, headers?: Record<string, string>): Promise<string[]> {
  const targets = [(await named(t, 'a')).url, (await named(t, 'b')).url]
  const gateway = await serve(t, { upstream: { targets, ...more } })
  return bodies(gateway.url, 8, headers)
}

/** Sends three requests at once over one connection to a target that responds only to the first one. */
async function crowded(t: TestContext, more: object): ReturnType<typeof crowdedParts> {
  return crowdedParts(t, more)
}

async function crowdedParts(t: TestContext, more: object) {
  const origin = await scriptedOrigin(t, ({ socket }, path) => {
    if (path === '/warm') socket.write(ok(''))
  })
  const upstream = { targets: [origin.url], connections: 1, ...more }
  const gateway = await serve(t, { upstream })
  await bodies(`${gateway.url}/warm`, 1)
  const answers = [1, 2, 3].map((i) => statusOf(`${gateway.url}/${i}`))
  const free = (): void => {
    for (const { socket } of origin.opened) socket.destroy()
  }
  return { origin, gateway, answers, free }
}

/** Returns 0 if the gateway ended with the test. */
async function statusOf(url: string): Promise<number> {
  return fetch(url).then(
    ({ status }) => status,
    () => 0,
  )
}

/** Returns the results of requests to a target that is silent, or becomes silent after some bytes. */
async function stalled(t: TestContext, timeouts: object, said = ''): Promise<string> {
  const origin = await rawOrigin(t, said === '' ? () => {} : answering(said))
  const gateway = await serve(t, { upstream: { targets: [origin.url], timeouts } })
  return (await fetch(gateway.url)).text().catch(() => 'cut')
}

/** Sends retried requests to an upstream whose first target is unreachable. */
async function statusesWith(t: TestContext, retry: object): Promise<number[]> {
  const targets = [`http://127.0.0.1:${await closedPort()}`, (await named(t, 'b')).url]
  const gateway = await serve(t, { upstream: { targets, retry } })
  const statuses: number[] = []
  for (let i = 0; i < 4; i++) statuses.push((await fetch(gateway.url)).status)
  return statuses.sort()
}

testKeys('upstreams', {
  'targets.url': async (t) => {
    const gateway = await serve(t, { upstream: { targets: [{ url: (await named(t, 'here')).url }] } })
    assert.deepEqual(await bodies(gateway.url, 1), ['here'])
  },
  'targets.weight': async (t) => {
    const [a, b] = [await named(t, 'a'), await named(t, 'b')]
    const gateway = await serve(t, {
      upstream: {
        targets: [
          { url: a.url, weight: 3 },
          { url: b.url, weight: 1 },
        ],
      },
    })
    assert.equal((await bodies(gateway.url, 8)).filter((name) => name === 'a').length, 6)
  },
  'targets.role': async (t) => {
    const [a, b] = [await named(t, 'a'), await named(t, 'b')]
    const gateway = await serve(t, {
      upstream: { targets: [{ url: a.url, role: 'failover' }, { url: b.url }] },
    })
    assert.deepEqual(new Set(await bodies(gateway.url, 4)), new Set(['b']))
  },
  'targets.priority': async (t) => {
    const dead = `http://127.0.0.1:${await closedPort()}`
    const [b, c] = [await named(t, 'b'), await named(t, 'c')]
    for (const [priority, name] of [
      [1, 'b'],
      [3, 'c'],
    ] as const) {
      const targets = [
        dead,
        { url: b.url, role: 'failover', priority },
        { url: c.url, role: 'failover', priority: 2 },
      ]
      const gateway = await serve(t, { upstream: { targets } })
      assert.deepEqual(await bodies(gateway.url, 2), [name, name])
    }
  },
  balance: async (t) => {
    assert.equal(new Set(await balanced(t, {})).size, 2)
    assert.equal(new Set(await balanced(t, { balance: 'hash', hashOn: 'ip' })).size, 1)
  },
  hashOn: async (t) => {
    const hashed = { balance: 'hash', hashOn: 'header:x-user' }
    assert.equal(new Set(await balanced(t, hashed, { 'x-user': 'u' })).size, 1)
    const targets = [(await named(t, 'a')).url, (await named(t, 'b')).url]
    const gateway = await serve(t, { upstream: { targets, ...hashed } })
    const users = Array.from({ length: 30 }, (_, i) => bodies(gateway.url, 1, { 'x-user': `user ${i}` }))
    assert.equal(new Set((await Promise.all(users)).flat()).size, 2)
  },
  ...connectionKeys,
  ...nameKeys,
  ...sessionKeys,
  ...canaryKeys,
  ...mirrorKeys,
  failoverBelow: async (t) => {
    const targets = ['http://a', 'http://b', { url: 'http://c', role: 'failover' }]
    for (const [failoverBelow, spilled] of [
      ['0%', 0],
      ['100%', 4],
    ] as const) {
      const upstream = compiledUpstream(t, { targets, failoverBelow })
      upstream.targets[0]!.isAvailable = false
      const chosen = Array.from({ length: 8 }, () => upstream.choose(new Exchange(), [])!.origin)
      assert.equal(chosen.filter((origin) => origin === 'http://c').length, spilled)
    }
  },
  connections: async (t) => {
    const { origin, gateway, free } = await crowded(t, { connections: 2, pendingTimeout: '1m' })
    await until(() => gateway.plane.inFlight === 3 && origin.paths().length === 3)
    assert.equal(origin.opened.length, 2)
    free()
  },
  maxPending: async (t) => {
    const { answers, free } = await crowded(t, { maxPending: 1, pendingTimeout: '1m' })
    assert.equal(await Promise.race(answers), 503)
    free()
  },
  pendingTimeout: async (t) => {
    const { answers, origin, free } = await crowded(t, { pendingTimeout: '50ms' })
    assert.equal(await Promise.race(answers), 503)
    // On a busy machine, requests with a connection may finish after those without one.
    await until(() => origin.paths().length >= 2)
    assert.equal(origin.paths().length, 2)
    free()
  },
  keepAlive: async (t) => {
    const origin = await scriptedOrigin(t, ({ socket }) => socket.write(ok('')))
    const gateway = await serve(t, { upstream: { targets: [origin.url], keepAlive: '50ms' } })
    const kept = await serve(t, { upstream: { targets: [origin.url], keepAlive: '1m' } })
    await bodies(kept.url, 1)
    await bodies(gateway.url, 1)
    await until(() => origin.opened[1]!.isClosed)
    assert.equal(origin.opened[0]!.isClosed, false)
  },
  maxHeaderBytes: async (t) => {
    const { url } = await httpOrigin(t, (_, res) => void res.setHeader('x-long', 'x'.repeat(2000)).end())
    const strict = await serve(t, { upstream: { targets: [url], maxHeaderBytes: '1kb' } })
    assert.equal((await fetch(strict.url)).status, 502)
    assert.equal((await fetch((await serve(t, { target: url })).url)).status, 200)
  },
  responseBufferBytes: async (t) => {
    const large = Buffer.alloc(16 * 1024 * 1024)
    const ended = { count: 0 }
    const { url } = await httpOrigin(t, (_, res) => void res.on('finish', () => ended.count++).end(large))
    for (const responseBufferBytes of ['32mb', '0b']) {
      const gateway = await serve(t, { upstream: { targets: [url], responseBufferBytes } })
      const client = await connectRaw(t, gateway.port)
      client.pause()
      client.send(GET)
      const isActive = (): boolean =>
        gateway.plane.samples().some(({ name, value }) => name === 'gw_upstream_active' && value > 0)
      await until(() => gateway.plane.inFlight === 1)
      if (responseBufferBytes === '0b') {
        await until(isActive)
        client.resume()
      }
      await until(() => !isActive())
      assert.equal(gateway.plane.inFlight === 1, responseBufferBytes !== '0b')
      client.reset()
    }
  },
  'timeouts.connect': async (t) => {
    const { port } = await named(t, 'here')
    const lookup = ((host, options, done) =>
      setTimeout(() => dns.lookup(host, options, done), 300)) as LookupFunction
    const network = { lookup, maxConnectionAgeMs: 60_000 }
    for (const [connect, status] of [
      ['20ms', 504],
      ['5s', 200],
    ] as const) {
      const upstream = { targets: [`http://localhost:${port}`], timeouts: { connect } }
      assert.equal((await fetch((await serve(t, { upstream, network })).url)).status, status)
    }
  },
  'timeouts.headers': async (t) => {
    assert.match(await stalled(t, { headers: '50ms' }), /\(headers\)/)
  },
  'timeouts.idle': async (t) => {
    assert.equal(
      await stalled(t, { idle: '50ms' }, 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive'),
      'cut',
    )
  },
  'timeouts.total': async (t) => {
    assert.match(await stalled(t, { total: '50ms' }), /\(total\)/)
  },
  'retry.attempts': async (t) => {
    assert.deepEqual(await statusesWith(t, { attempts: 0 }), [200, 200, 502, 502])
    assert.deepEqual(await statusesWith(t, { attempts: 1 }), [200, 200, 200, 200])
  },
  'retry.budget': async (t) => {
    assert.deepEqual(await statusesWith(t, { budget: '0%' }), [200, 200, 502, 502])
    assert.deepEqual(await statusesWith(t, { budget: '100%' }), [200, 200, 200, 200])
  },
  ...STATE_KEYS,
  ...CHECK_KEYS,
  transport: async (t) => {
    // One of the differences listed in docs/guides/upstreams.md.
    const { url } = await rawOrigin(t, answering('HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok'))
    for (const [transport, status] of [
      ['wire', 502],
      ['auto', 502],
      ['undici', 200],
    ] as const) {
      const gateway = await serve(t, { upstream: { targets: [url], transport } })
      assert.equal((await fetch(gateway.url)).status, status, transport)
    }
  },
})
