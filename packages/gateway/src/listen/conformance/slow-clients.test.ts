import assert from 'node:assert/strict'
import type http from 'node:http'
import { describe, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { TimeoutsPlan } from '@sluice/config'
import { type TestGateway, TIMEOUTS, until } from '../../testing/gateway.js'
import { echoOrigin, httpOrigin } from '../../testing/origin.js'
import { statusesOf } from '../../testing/raw-client.js'
import { connectRaw } from '../../testing/raw-connection.js'
import { type StartGateway, testEngines } from '../testing/engines.js'

// Clients that are slow rather than wrong. uWS acts after about 10 s, so here the elapsed time itself is the subject.
// The tests run side by side.

const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'
const POST = 'POST /a HTTP/1.1\r\nHost: a\r\n'
/** Beyond every timer of uWS. */
const LONG_MS = 16_000
const PATIENT: TimeoutsPlan = { connectMs: 1000, headersMs: 30_000, idleMs: 30_000, totalMs: 0 }
/** More than the socket buffers of both sides hold. */
const LARGE_BYTES = 32 * 1024 * 1024

/** Responds with this many bytes, of announced length or chunked. */
function download(isAnnounced: boolean): http.RequestListener {
  return (_, res) => {
    if (isAnnounced) res.setHeader('content-length', LARGE_BYTES)
    res.write(Buffer.alloc(LARGE_BYTES, 'd'))
    res.end()
  }
}

function downloadGateway(
  t: TestContext,
  start: StartGateway,
  isAnnounced: boolean,
  timeouts = PATIENT,
): Promise<TestGateway> {
  return httpOrigin(t, download(isAnnounced)).then((origin) =>
    start(t, { upstreams: [{ urls: [origin.url], timeouts }] }),
  )
}

/** Nothing is in progress any more, at this gateway or at its targets. */
function isAtRest(gateway: TestGateway): boolean {
  const active = gateway.plane.samples().filter((sample) => sample.name === 'gw_upstream_active')
  return gateway.plane.inFlight === 0 && active.every((sample) => sample.value === 0)
}

describe('slow clients', { concurrency: true }, () => {
  testEngines('an upload of 1 KB per second succeeds', async (t, start) => {
    const origin = await echoOrigin(t)
    const gateway = await start(t, { upstreams: [{ urls: [origin.url], timeouts: PATIENT }] })
    const client = await connectRaw(t, gateway.port)
    const seconds = LONG_MS / 1000
    client.send(`${POST}Content-Length: ${seconds * 1024}\r\n\r\n`)
    for (let i = 0; i < seconds; i++) {
      await delay(1000)
      client.send(Buffer.alloc(1024, 'u'))
    }
    await until(() => client.text.includes(`"bytes":${seconds * 1024}`))
    assert.deepEqual(statusesOf(client.text), [200])
    await until(() => isAtRest(gateway))
  })

  for (const begin of ['begin', '']) {
    const when = begin === '' ? 'before its first byte' : 'in the middle'
    testEngines(`an upload may pause ${when} for as long as limits.bodyIdle says`, async (t, start) => {
      const origin = await echoOrigin(t)
      const gateway = await start(t, {
        upstreams: [{ urls: [origin.url], timeouts: PATIENT }],
        listener: { limits: { bodyIdleMs: 60_000 } },
      })
      const client = await connectRaw(t, gateway.port)
      client.send(`${POST}Content-Length: ${begin.length + 3}\r\n\r\n${begin}`)
      await delay(LONG_MS)
      client.send('end')
      await until(() => client.text.includes(`"bytes":${begin.length + 3}`))
      assert.deepEqual(statusesOf(client.text), [200])
    })
  }

  testEngines('an unread body does not keep its connection', async (t, start) => {
    const action = { kind: 'respond', status: 200, headers: [], body: 'here' } as const
    const gateway = await start(t, { routes: [{ id: 'here', action }] })
    const client = await connectRaw(t, gateway.port)
    client.send(`${POST}Content-Length: 1000\r\n\r\nbegin`)
    await until(() => client.isClosed, 300_000)
    assert.deepEqual(statusesOf(client.text), [200])
    assert.match(client.text, /connection: close/i)
    await until(() => isAtRest(gateway) && gateway.plane.connections === 0)
  })

  testEngines('a reader that stalls in a response of known length receives all of it', async (t, start) => {
    const gateway = await downloadGateway(t, start, true)
    const client = await connectRaw(t, gateway.port)
    client.pause()
    client.send(GET)
    await delay(LONG_MS)
    client.resume()
    await until(() => client.receivedBytes > LARGE_BYTES, 300_000)
    const body = client.text.slice(client.text.indexOf('\r\n\r\n') + 4)
    assert.equal(body.length, LARGE_BYTES)
    assert.match(body, /^d+$/)
    await until(() => isAtRest(gateway))
  })

  testEngines(
    'known limit: a reader that stalls in a response of unknown length is cut',
    async (t, start) => {
      const gateway = await downloadGateway(t, start, false)
      const client = await connectRaw(t, gateway.port)
      client.pause()
      client.send(GET)
      await until(() => gateway.plane.inFlight === 1)
      await until(() => isAtRest(gateway), 300_000)
      client.resume()
      await until(() => client.isClosed, 300_000)
      assert.ok(client.receivedBytes < LARGE_BYTES)
      assert.doesNotMatch(client.text, /\r\n0\r\n\r\n$/)
    },
    ['uws'],
  )

  for (const isAnnounced of [true, false]) {
    const length = isAnnounced ? 'known' : 'unknown'
    testEngines(
      `an upload that is echoed with ${length} length survives a reader that stalls meanwhile`,
      async (t, start) => {
        const origin = await httpOrigin(t, (req, res) => {
          if (isAnnounced) res.setHeader('content-length', LARGE_BYTES)
          req.pipe(res)
        })
        const gateway = await start(t, {
          upstreams: [{ urls: [origin.url], timeouts: PATIENT }],
          listener: { limits: { bodyBytes: LARGE_BYTES } },
        })
        const client = await connectRaw(t, gateway.port)
        client.pause()
        client.send(`${POST}Content-Length: ${LARGE_BYTES}\r\n\r\n`)
        client.send(Buffer.alloc(LARGE_BYTES, 'e'))
        await delay(6000)
        client.resume()
        await until(() => client.receivedBytes > LARGE_BYTES, 20_000)
        assert.deepEqual(statusesOf(client.text), [200])
        await until(() => isAtRest(gateway))
      },
    )
  }

  testEngines(
    'a reader that never reads again is cut after the idle timeout of the route',
    async (t, start) => {
      const gateway = await downloadGateway(t, start, true, { ...TIMEOUTS, idleMs: 2000 })
      const client = await connectRaw(t, gateway.port)
      client.pause()
      client.send(GET)
      await until(() => gateway.plane.inFlight === 1)
      await until(() => isAtRest(gateway))
      client.resume()
      await until(() => client.isClosed)
      assert.ok(client.receivedBytes < LARGE_BYTES)
    },
  )

  testEngines(
    'a head that arrives one byte at a time is cut after about 10 s, without an answer',
    async (t, start) => {
      const origin = await echoOrigin(t)
      const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
      const client = await connectRaw(t, gateway.port)
      client.send('GET /a HTTP/1.1\r\nHost: a\r\nX-Slow: ')
      const dripping = setInterval(() => client.isClosed || client.send('x'), 500)
      t.after(() => clearInterval(dripping))
      await until(() => client.isClosed, 300_000)
      assert.equal(client.text, '')
      assert.equal(origin.connections(), 0)
      await until(() => gateway.plane.connections === 0)
    },
    ['uws'],
  )

  testEngines(
    'an idle kept connection is closed after about 10 s',
    async (t, start) => {
      const origin = await echoOrigin(t)
      const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
      const client = await connectRaw(t, gateway.port)
      client.send(GET)
      await until(() => statusesOf(client.text).length === 1)
      await until(() => client.isClosed, 300_000)
      await until(() => gateway.plane.connections === 0)
    },
    ['uws'],
  )

  const MALFORMED: Readonly<Record<string, string>> = {
    'a bare line feed': 'GET /a HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n',
    'a bare carriage return': 'GET /a HTTP/1.1\r\nHost: a\r\nX: 1\r2\r\n\r\n',
    'a space before the colon': 'GET /a HTTP/1.1\r\nHost: a\r\nX : 1\r\n\r\n',
    'an obsolete fold': 'GET /a HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n',
  }
  for (const [name, bytes] of Object.entries(MALFORMED)) {
    testEngines(
      `known limit: a head with ${name} is cut after about 10 s, without an answer`,
      async (t, start) => {
        const origin = await echoOrigin(t)
        const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
        const client = await connectRaw(t, gateway.port)
        client.send(bytes)
        await until(() => client.isClosed, 300_000)
        assert.equal(client.text, '')
        assert.equal(origin.connections(), 0)
        await until(() => gateway.plane.connections === 0)
      },
      ['uws'],
    )
  }

  testEngines(
    'known limit: a streamed response announces the close and leaves it to the client',
    async (t, start) => {
      const origin = await httpOrigin(t, (req, res) => {
        res.write('begin')
        req.resume().on('end', () => res.end('end'))
      })
      const listener = { limits: { bodyBufferBytes: 0 } }
      const gateway = await start(t, { upstreams: [{ urls: [origin.url] }], listener })
      const client = await connectRaw(t, gateway.port)
      const startedMono = performance.now()
      client.send(`${POST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`)
      await until(() => client.text.includes('begin'))
      client.send('0\r\n\r\n')
      await until(() => client.text.endsWith('\r\n0\r\n\r\n'))
      assert.match(client.text, /connection: close/i)
      await until(() => client.isClosed, 300_000)
      assert.ok(performance.now() - startedMono > 5000)
    },
    ['uws'],
  )
})
