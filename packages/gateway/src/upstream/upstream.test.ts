import assert from 'node:assert/strict'
import { closedPort, httpOrigin, type Origin, rawOrigin } from '../testing/origin.js'
import { startOver, TRANSPORTS, type TransportName, testOver } from '../testing/transports.js'

// The group as a whole: roles, weights and retries, seen from the client.

for (const transport of TRANSPORTS) conform(transport)

function conform(transport: TransportName): void {
  const test = testOver(transport)
  const startGateway = startOver(transport)

  async function origins(t: Parameters<typeof httpOrigin>[0], names: readonly string[]): Promise<Origin[]> {
    return await Promise.all(names.map((name) => httpOrigin(t, (_, res) => res.end(name))))
  }

  function primary(
    url: string,
    weight = 1,
  ): { url: string; weight: number; role: 'primary'; priority: 1; srv: null } {
    return { url, weight, role: 'primary', priority: 1, srv: null }
  }

  async function ask(url: string, headers: Record<string, string> = {}): Promise<string> {
    const response = await fetch(url, { headers })
    return response.status === 200 ? await response.text() : String(response.headers.get('x-gw-error'))
  }

  test('a target of weight 0 gets nothing, not even what the others cannot take', async (t) => {
    const [idle] = await origins(t, ['idle'])
    const dead = primary(`http://127.0.0.1:${await closedPort()}`)
    for (const balance of ['round-robin', 'least-pending'] as const) {
      const gateway = await startGateway(t, {
        upstreams: [{ urls: [], targets: [primary(idle!.url, 0), dead], balance }],
      })
      for (let i = 0; i < 3; i++) assert.equal(await ask(gateway.url), 'GW_UPSTREAM_REFUSED')
    }
    assert.equal(idle!.connections(), 0)
  })

  test('requests are shared by weight', async (t) => {
    const [a, b] = await origins(t, ['a', 'b'])
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [], targets: [primary(a!.url, 3), primary(b!.url, 1)] }],
    })
    const names: string[] = []
    for (let i = 0; i < 40; i++) names.push(await ask(gateway.url))
    assert.equal(names.filter((name) => name === 'a').length, 30)
  })

  test('a retry does not use up the turn of a target: the working ones share the requests of the failed one', async (t) => {
    const [a, b] = await origins(t, ['a', 'b'])
    const dead = primary(`http://127.0.0.1:${await closedPort()}`)
    const gateway = await startGateway(t, {
      upstreams: [
        {
          urls: [],
          targets: [dead, primary(a!.url), primary(b!.url)],
          retry: { attempts: 1, budget: 1 },
        },
      ],
    })
    const names: string[] = []
    for (let i = 0; i < 60; i++) names.push(await ask(gateway.url))
    const ofA = names.filter((name) => name === 'a').length
    assert.equal(names.filter((name) => name !== 'a' && name !== 'b').length, 0)
    assert.ok(ofA >= 25 && ofA <= 35, `${ofA} of 60 requests went to one of two equal targets`)
  })

  test('a header fixes the target, as long as that target works', async (t) => {
    const all = await origins(t, ['a', 'b', 'c'])
    const gateway = await startGateway(t, {
      upstreams: [
        {
          urls: all.map((origin) => origin.url),
          balance: 'hash',
          hashOn: { kind: 'header', name: 'x-user' },
        },
      ],
    })
    const seen = new Set<string>()
    for (let user = 0; user < 20; user++) {
      const first = await ask(gateway.url, { 'x-user': String(user) })
      for (let i = 0; i < 3; i++) assert.equal(await ask(gateway.url, { 'x-user': String(user) }), first)
      seen.add(first)
    }
    assert.ok(seen.size > 1, 'twenty users do not all have the same target')
  })

  test('no more targets are tried than retry.attempts allows', async (t) => {
    const [alive] = await origins(t, ['alive'])
    const dead = await Promise.all([closedPort(), closedPort(), closedPort()])
    const targets = [...dead.map((port) => primary(`http://127.0.0.1:${port}`)), primary(alive!.url)]
    for (const [attempts, expected] of [
      [2, 'GW_UPSTREAM_REFUSED'],
      [3, 'alive'],
    ] as const) {
      const gateway = await startGateway(t, {
        upstreams: [{ urls: [], targets, retry: { attempts, budget: 1 } }],
      })
      assert.equal(await ask(gateway.url), expected)
    }
  })

  test('a target without room is skipped without using up a retry', async (t) => {
    const busy = await rawOrigin(t, () => {})
    const [alive] = await origins(t, ['alive'])
    const targets = [
      primary(busy.url),
      primary(`http://127.0.0.1:${await closedPort()}`),
      primary(alive!.url),
    ]
    const gateway = await startGateway(t, {
      upstreams: [
        {
          urls: [],
          targets,
          connections: 1,
          maxPending: 0,
          retry: { attempts: 1, budget: 1 },
        },
      ],
    })
    const stop = new AbortController()
    const held = fetch(gateway.url, { signal: stop.signal }).catch(() => null)
    while (busy.connections() === 0) await new Promise((resolve) => setImmediate(resolve))
    for (let i = 0; i < 10; i++) assert.equal(await ask(gateway.url), 'alive')
    stop.abort()
    await held
  })

  test('attempts: 0 means that nothing is sent twice, not even a GET whose kept connection died', async (t) => {
    let requests = 0
    const origin = await rawOrigin(t, (socket) => {
      let isFirst = true
      socket.on('data', () => {
        requests++
        if (isFirst) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        else socket.resetAndDestroy()
        isFirst = false
      })
    })
    for (const [attempts, expected] of [
      [0, 'GW_UPSTREAM_RESET'],
      [1, 'ok'],
    ] as const) {
      const gateway = await startGateway(t, {
        upstreams: [{ urls: [origin.url], retry: { attempts, budget: 1 } }],
      })
      requests = 0
      assert.equal(await ask(gateway.url), 'ok')
      assert.equal(await ask(gateway.url), expected)
      assert.equal(requests, 2 + attempts)
    }
  })

  test('a spent budget ends retries, and responses stay those of the failure', async (t) => {
    const [alive] = await origins(t, ['alive'])
    const dead = `http://127.0.0.1:${await closedPort()}`
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [dead, alive!.url], retry: { attempts: 1, budget: 0 } }],
    })
    const answers = new Set<string>()
    for (let i = 0; i < 4; i++) answers.add(await ask(gateway.url))
    assert.deepEqual([...answers].sort(), ['GW_UPSTREAM_REFUSED', 'alive'])
  })
}
