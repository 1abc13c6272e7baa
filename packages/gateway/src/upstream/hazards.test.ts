import assert from 'node:assert/strict'
import type net from 'node:net'
import { TIMEOUTS, until } from '../testing/gateway.js'
import { answering, closedPort, httpOrigin, rawOrigin } from '../testing/origin.js'
import { sendRaw, statusesOf } from '../testing/raw-client.js'
import { startOver, TRANSPORTS, type TransportName, testOver } from '../testing/transports.js'

// Hazards of HTTP clients, and upstreams that fail or lie: the client's response, and that nothing leaks.

for (const transport of TRANSPORTS) conform(transport)

function conform(transport: TransportName): void {
  const test = testOver(transport)
  const startGateway = startOver(transport)

  const GET = 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

  interface Lie {
    readonly name: string
    readonly bytes: string
    readonly status: number
    readonly code: string
  }

  const LIES: readonly Lie[] = [
    { name: 'garbage', bytes: 'hello\r\n\r\n', status: 502, code: 'GW_UPSTREAM_INVALID' },
    {
      name: 'Content-Length beside chunked',
      bytes:
        'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      status: 502,
      code: 'GW_UPSTREAM_INVALID',
    },
    {
      name: 'two Content-Lengths',
      bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc',
      status: 502,
      code: 'GW_UPSTREAM_INVALID',
    },
    {
      name: 'a tab behind the Content-Length',
      bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 3\t\r\n\r\nabc',
      status: 502,
      code: 'GW_UPSTREAM_INVALID',
    },
    {
      name: 'a tab behind chunked',
      bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\t\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      status: 502,
      code: 'GW_UPSTREAM_INVALID',
    },
    {
      name: 'a 103 that closes the connection',
      bytes:
        'HTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      status: 502,
      code: 'GW_UPSTREAM_INVALID',
    },
    {
      name: 'a 103 of HTTP/1.0',
      bytes: 'HTTP/1.0 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      status: 502,
      code: 'GW_UPSTREAM_INVALID',
    },
    {
      name: 'a 103 of a foreign coding',
      bytes:
        'HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: gzip\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      status: 502,
      code: 'GW_UPSTREAM_INVALID',
    },
    {
      name: 'a folded field',
      bytes: 'HTTP/1.1 200 OK\r\nX-A: 1\r\n b\r\nContent-Length: 0\r\n\r\n',
      status: 502,
      code: 'GW_UPSTREAM_INVALID',
    },
    {
      name: 'status 999',
      bytes: 'HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n',
      status: 502,
      code: 'GW_UPSTREAM_INVALID',
    },
    {
      name: 'status 099',
      bytes: 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n',
      status: 502,
      code: 'GW_UPSTREAM',
    },
    {
      name: 'a head over the limit',
      bytes: `HTTP/1.1 200 OK\r\nX-Big: ${'x'.repeat(20_000)}\r\nContent-Length: 0\r\n\r\n`,
      status: 502,
      code: 'GW_UPSTREAM_INVALID',
    },
    {
      name: 'an unasked 100 Continue',
      bytes: 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      status: 502,
      code: 'GW_UPSTREAM',
    },
    {
      name: 'a flood of 1xx',
      bytes: 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(200),
      status: 502,
      code: 'GW_UPSTREAM_INVALID',
    },
  ]

  for (const { name, bytes, status, code } of LIES) {
    test(`an upstream that answers with ${name} becomes ${status}, and the next request is served`, async (t) => {
      const origin = await rawOrigin(t, (socket, nth) => {
        if (nth === 0) answering(bytes)(socket)
        else answering('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')(socket)
      })
      const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
      const first = await sendRaw(gateway.port, [GET])
      assert.deepEqual(statusesOf(first.text), [status], first.text)
      assert.ok(first.text.includes(code), first.text)
      const second = await sendRaw(gateway.port, [GET])
      assert.deepEqual(statusesOf(second.text), [200])
      await until(() => gateway.plane.inFlight === 0)
    })
  }

  for (const fields of ['Content-Length: 2\r\nContent-Length: 2', 'Content-Length : 2\r\nX-A \t: 1']) {
    // undici's parser refuses both.
    const status = transport === 'wire' ? 200 : 502
    test(`a response with ${JSON.stringify(fields)} is passed on as ${status}`, async (t) => {
      const origin = await rawOrigin(t, answering(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\nok`))
      const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
      const { text } = await sendRaw(gateway.port, [GET])
      assert.deepEqual(statusesOf(text), [status])
      if (status === 200) assert.equal(text.match(/content-length: 2\r\n/gi)?.length, 1)
    })
  }

  test('one early hint before the response is harmless', async (t) => {
    const bytes =
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
    const origin = await rawOrigin(t, answering(bytes))
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    assert.deepEqual(statusesOf((await sendRaw(gateway.port, [GET])).text), [200])
  })

  test('a 304 that announces the length of a body it does not have is passed on', async (t) => {
    const bytes = 'HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\nETag: "a"\r\nConnection: close\r\n\r\n'
    const origin = await rawOrigin(
      t,
      answering(bytes, (socket) => socket.end()),
    )
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    const answer = await sendRaw(gateway.port, [GET])
    assert.deepEqual(statusesOf(answer.text), [304])
    assert.match(answer.text, /etag: "a"/i)
  })

  test('bytes after a response never become the response to the next request', async (t) => {
    const poisoned =
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison'
    const origin = await rawOrigin(t, (socket, nth) =>
      answering(nth === 0 ? poisoned : 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood')(socket),
    )
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    assert.match((await sendRaw(gateway.port, [GET])).text, /ok$/)
    for (let i = 0; i < 3; i++) assert.match((await sendRaw(gateway.port, [GET])).text, /good$/)
  })

  test('bytes that arrive on an idle connection never become the response to the next request', async (t) => {
    let poisoned = 0
    const good = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood'
    const origin = await rawOrigin(
      t,
      answering(good, (socket) => {
        setTimeout(() => socket.write(good.replace('good', 'evil'), () => poisoned++), 5)
      }),
    )
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    for (let i = 1; i <= 20; i++) {
      assert.match((await sendRaw(gateway.port, [GET])).text, /good$/)
      await until(() => poisoned === i)
    }
  })

  test('bytes from 0x80 on in response fields arrive unchanged', async (t) => {
    const origin = await rawOrigin(
      t,
      answering(Buffer.from('HTTP/1.1 200 OK\r\nX-Name: Jos\xe9\r\nContent-Length: 0\r\n\r\n', 'latin1')),
    )
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    assert.ok((await sendRaw(gateway.port, [GET])).text.includes('Jos\xe9\r\n'))
  })

  const PARTIAL_HEADS = {
    'of announced length': 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf',
    chunked: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
  }
  for (const [kind, bytes] of Object.entries(PARTIAL_HEADS)) {
    test(`a response ${kind} that is cut half-way reaches the client as cut, not as complete`, async (t) => {
      const origin = await rawOrigin(
        t,
        answering(bytes, (socket) => setTimeout(() => socket.resetAndDestroy(), 50)),
      )
      const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
      const answer = await sendRaw(gateway.port, ['GET /a HTTP/1.1\r\nHost: a\r\n\r\n'])
      assert.deepEqual(statusesOf(answer.text), [200])
      assert.equal(answer.isClosed, true)
      assert.doesNotMatch(answer.text, /0\r\n\r\n$/)
      await until(() => gateway.plane.inFlight === 0)
    })
  }

  test('a target that refuses connections is 502 GW_UPSTREAM_REFUSED', async (t) => {
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [`http://127.0.0.1:${await closedPort()}`] }],
    })
    const answer = await sendRaw(gateway.port, [GET])
    assert.deepEqual(statusesOf(answer.text), [502])
    assert.match(answer.text, /x-gw-error: GW_UPSTREAM_REFUSED/)
  })

  test('a name that does not resolve is 502 GW_UPSTREAM_DNS', async (t) => {
    const gateway = await startGateway(t, { upstreams: [{ urls: ['http://nobody.invalid:80'] }] })
    const answer = await sendRaw(gateway.port, [GET], { waitMs: 8000 })
    assert.match(answer.text, /GW_UPSTREAM_DNS|GW_UPSTREAM_TIMEOUT/)
  })

  test('a target that accepts and says nothing is 504 with the phase', async (t) => {
    const origin = await rawOrigin(t, () => {})
    const timeouts = { ...TIMEOUTS, headersMs: 200 }
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url], timeouts }] })
    const answer = await sendRaw(gateway.port, [GET], { waitMs: 3000 })
    assert.deepEqual(statusesOf(answer.text), [504])
    assert.match(answer.text, /\(headers\)/)
    await until(() => gateway.plane.inFlight === 0)
  })

  test('the total timeout ends an exchange that always makes a little progress', async (t) => {
    const origin = await rawOrigin(t, (socket) => {
      answering('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n')(socket)
      const timer = setInterval(() => socket.write('x'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    const timeouts = { ...TIMEOUTS, totalMs: 300 }
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url], timeouts }] })
    const answer = await sendRaw(gateway.port, [GET], { waitMs: 5000 })
    assert.equal(answer.isClosed, true)
    await until(() => gateway.plane.inFlight === 0)
  })

  test('a body that stops arriving is cut after the idle timeout', async (t) => {
    const origin = await rawOrigin(t, answering('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'))
    const timeouts = { ...TIMEOUTS, idleMs: 200 }
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url], timeouts }] })
    const answer = await sendRaw(gateway.port, [GET], { waitMs: 5000 })
    assert.equal(answer.isClosed, true)
    assert.match(answer.text, /abc$/)
  })

  test('a target that closes kept connections costs no failed GET', async (t) => {
    const origin = await rawOrigin(t, (socket) => {
      answering('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', () =>
        setTimeout(() => socket.destroy(), 3),
      )(socket)
    })
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [origin.url], retry: { attempts: 1, budget: 1 } }],
    })
    for (let i = 0; i < 200; i++) {
      const response = await fetch(`${gateway.url}/a`)
      assert.equal(response.status, 200)
      await response.arrayBuffer()
      await new Promise((resolve) => setTimeout(resolve, i % 5))
    }
  })

  test('a POST whose connection is reset is not sent twice', async (t) => {
    let seen = 0
    const origin = await rawOrigin(t, (socket) => {
      socket.on('data', (chunk) => {
        if (chunk.toString().startsWith('POST')) seen++
        socket.resetAndDestroy()
      })
    })
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    const answer = await sendRaw(gateway.port, [
      'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc',
    ])
    assert.deepEqual(statusesOf(answer.text), [502])
    assert.match(answer.text, /GW_UPSTREAM_RESET/)
    assert.equal(seen, 1)
  })

  test('a refused connection moves the request, with its body, to the next target', async (t) => {
    const origin = await httpOrigin(t, (req, res) => {
      let bytes = 0
      req.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      req.on('end', () => res.end(String(bytes)))
    })
    const dead = `http://127.0.0.1:${await closedPort()}`
    const gateway = await startGateway(t, { upstreams: [{ urls: [dead, origin.url] }] })
    for (const size of [10, 3_000_000]) {
      for (let i = 0; i < 4; i++) {
        const response = await fetch(`${gateway.url}/a`, { method: 'POST', body: Buffer.alloc(size) })
        assert.equal(response.status, 200)
        assert.equal(await response.text(), String(size))
      }
    }
  })

  test('failover targets serve only when no primary can be reached', async (t) => {
    const primary = await httpOrigin(t, (_, res) => res.end('primary'))
    const spare = await httpOrigin(t, (_, res) => res.end('spare'))
    const targets = [
      { url: primary.url, weight: 1, role: 'primary' as const, priority: 1, srv: null },
      { url: spare.url, weight: 1, role: 'failover' as const, priority: 1, srv: null },
    ]
    const gateway = await startGateway(t, { upstreams: [{ urls: [], targets }] })
    for (let i = 0; i < 5; i++) assert.equal(await (await fetch(gateway.url)).text(), 'primary')
    const lost = [{ ...targets[0]!, url: `http://127.0.0.1:${await closedPort()}` }, targets[1]!]
    await gateway.reload({ upstreams: [{ urls: [], targets: lost }] })
    assert.equal(await (await fetch(gateway.url)).text(), 'spare')
  })

  test('requests beyond connections and queue are shed with 503 and Retry-After', async (t) => {
    const held: net.Socket[] = []
    let isOver = false
    const origin = await rawOrigin(t, (socket) => {
      if (isOver) socket.destroy()
      else held.push(socket)
    })
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [origin.url], connections: 1, maxPending: 1 }],
    })
    const first = fetch(gateway.url).catch(() => null)
    const second = fetch(gateway.url).catch(() => null)
    await until(() => gateway.plane.inFlight === 2)
    const third = await fetch(gateway.url)
    assert.equal(third.status, 503)
    assert.equal(third.headers.get('retry-after'), '1')
    assert.equal(third.headers.get('x-gw-error'), 'GW_OVERLOADED')
    isOver = true
    for (const socket of held) socket.destroy()
    await Promise.all([first, second])
  })

  test('an early response reaches the client although the body is not finished', async (t) => {
    const origin = await rawOrigin(
      t,
      answering('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig', (socket) =>
        socket.end(),
      ),
    )
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    const head = 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n'
    const answer = await sendRaw(gateway.port, [head, Buffer.alloc(100_000)], { waitMs: 3000 })
    assert.deepEqual(statusesOf(answer.text), [413])
    assert.match(answer.text, /connection: close/i)
  })

  test('a client that disconnects cancels the call to the upstream', async (t) => {
    let isCancelled = false
    const origin = await rawOrigin(t, (socket) => socket.resume().on('close', () => (isCancelled = true)))
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    const abort = new AbortController()
    const call = fetch(gateway.url, { signal: abort.signal }).catch(() => null)
    await until(() => origin.connections() === 1)
    abort.abort()
    await call
    await until(() => isCancelled && gateway.plane.inFlight === 0)
  })

  test('a slow reader of the response slows down the upstream instead of filling memory', async (t) => {
    let sent = 0
    const origin = await httpOrigin(t, (_, res) => {
      const chunk = Buffer.alloc(64 * 1024)
      const pump = (): void => {
        while (sent < 512 * 1024 * 1024) {
          sent += chunk.length
          if (!res.write(chunk)) {
            res.once('drain', pump)
            return
          }
        }
        res.end()
      }
      pump()
    })
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    const { default: netModule } = await import('node:net')
    const socket = netModule.connect(gateway.port, '127.0.0.1')
    t.after(() => socket.destroy())
    socket.pause()
    socket.write('GET /a HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => sent > 0)
    let last = -1
    while (sent !== last) {
      last = sent
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    assert.ok(
      sent < 64 * 1024 * 1024,
      `${sent} bytes were taken from the upstream for a client that reads nothing`,
    )
  })
}
