import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import type { TestContext } from 'node:test'
import tls from 'node:tls'
import { loadOrThrow } from '@sluice/config/testing'
import { FAKE_CERTIFICATES } from '../admin/testing/test-certificate.js'
import {
  certificateFiles,
  shownName,
  stapledFiles,
  stapledStatus,
} from '../listen/testing/certificate-files.js'
import { type TestGateway, until } from '../testing/gateway.js'
import { echoOrigin, httpOrigin, rawOrigin } from '../testing/origin.js'
import { sendRaw, statusesOf } from '../testing/raw-client.js'
import { connectRaw } from '../testing/raw-connection.js'
import { type Effect, serve, testKeys } from './testing/key-tests.js'

const POST = 'POST /a HTTP/1.1\r\nHost: a\r\n'

async function echoing(t: TestContext, listener: object): Promise<TestGateway> {
  return serve(t, { target: (await echoOrigin(t)).url, listener })
}

/** Returns the status of a request with the given limits, and with the defaults. */
async function under(t: TestContext, limits: object, head: string): Promise<readonly number[]> {
  const statuses: number[] = []
  for (const each of [limits, {}]) {
    const gateway = await echoing(t, { limits: each })
    const answer = await sendRaw(gateway.port, [`${head}\r\nHost: a\r\nConnection: close\r\n\r\n`])
    statuses.push(...statusesOf(answer.text))
  }
  return statuses
}

function refused(listener: object, why: RegExp): Effect {
  return async () => {
    const document = { version: 1, listeners: [{ address: '127.0.0.1:0', ...listener }], routes: [] }
    assert.throws(() => loadOrThrow(JSON.stringify(document), new Map()), why)
  }
}

const overTls: Effect = async (t) => {
  const { port } = await echoing(t, { tls: certificateFiles(t) })
  assert.equal(await statusOverTls(port, {}), '200')
  assert.equal(await shownName(port), 'localhost')
}

const byName: Effect = async (t) => {
  for (const engine of ['uws', 'node']) {
    const certificates = [{ ...certificateFiles(t, 'renewed'), serverNames: ['a.test'] }]
    const { port } = await echoing(t, { engine, tls: { ...certificateFiles(t), certificates } })
    assert.equal(await shownName(port, { servername: 'a.test' }), 'renewed')
    assert.equal(await shownName(port, { servername: 'b.test' }), 'localhost')
  }
}

/** Returns 0 if there is no response over HTTP/2. */
function statusOverHttp2(t: TestContext, url: string): Promise<number> {
  const session = http2.connect(url).on('error', () => {})
  t.after(() => session.destroy())
  return new Promise((resolve) => {
    session.on('close', () => resolve(0))
    const stream = session.request({ ':path': '/a' }).on('error', () => {})
    stream.on('response', (headers) => resolve(headers[':status'] ?? 0))
  })
}

/** Returns the status of a call, or its error. */
function statusOverTls(port: number, options: https.RequestOptions): Promise<string> {
  const { cert: ca } = FAKE_CERTIFICATES.localhost
  const request = { port, host: '127.0.0.1', servername: 'localhost', agent: false, ca, ...options } as const
  return new Promise((resolve) => {
    https
      .get(request, (res) => resolve(String(res.resume().statusCode)))
      .on('error', (error) => resolve(error.message))
  })
}

/** Returns how many of three simultaneous connections are served. */
async function servedOfThree(t: TestContext, limits: object): Promise<number> {
  const gateway = await echoing(t, { limits })
  let served = 0
  for (let i = 0; i < 3; i++) {
    const client = await connectRaw(t, gateway.port)
    client.send('GET /a HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => statusesOf(client.text).length > 0)
    if (statusesOf(client.text)[0] === 200) served++
  }
  return served
}

/** Returns the status of an upload that sends one byte and stops, or continues with a byte every 50 ms. */
async function dripped(t: TestContext, limits: object, goesOn: boolean): Promise<number> {
  const gateway = await echoing(t, { limits })
  const client = await connectRaw(t, gateway.port)
  client.send(`${POST}Content-Length: 100000\r\n\r\nx`)
  const timer = setInterval(() => goesOn && !client.isClosed && client.send('x'), 50)
  t.after(() => clearInterval(timer))
  await until(() => statusesOf(client.text).length > 0)
  return statusesOf(client.text)[0]!
}

testKeys('listeners', {
  address: async (t) => {
    assert.equal((await fetch((await echoing(t, {})).url)).status, 200)
  },
  engine: async (t) => {
    for (const [engine, status] of [
      ['uws', 505],
      ['node', 200],
    ] as const) {
      const gateway = await echoing(t, { engine })
      const answer = await sendRaw(gateway.port, ['GET /a HTTP/1.0\r\nHost: a\r\n\r\n'])
      assert.deepEqual(statusesOf(answer.text), [status])
    }
  },
  'tls.certFile': overTls,
  'tls.keyFile': overTls,
  'tls.certificates.certFile': byName,
  'tls.certificates.keyFile': byName,
  'tls.certificates.serverNames': byName,
  'tls.ocspFile': async (t) => {
    const stapled = stapledFiles(t)
    const { ocspFile, ...bare } = stapled
    const { port } = await echoing(t, { engine: 'node', tls: stapled })
    assert.match(await stapledStatus(port), /Cert Status: good/)
    for (const without of [bare, { ...certificateFiles(t), ocspFile }]) {
      const gateway = await echoing(t, { engine: 'node', tls: without })
      assert.match(await stapledStatus(gateway.port), /no response sent/)
    }
    await refused({ tls: stapled }, /tls\.ocspFile needs engine: node/)(t)
    await refused(
      { engine: 'node', tls: { ...bare, ocspFile: bare.certFile } },
      /not an OCSP response in DER/,
    )(t)
  },
  'tls.certificates.ocspFile': async (t) => {
    const certificates = [{ ...stapledFiles(t), serverNames: ['a.test'] }]
    const listener = { tls: { ...certificateFiles(t), certificates } }
    const { port } = await echoing(t, { engine: 'node', ...listener })
    assert.match(await stapledStatus(port, 'a.test'), /Cert Status: good/)
    assert.match(await stapledStatus(port, 'b.test'), /no response sent/)
    await refused(listener, /ocspFile needs engine: node/)(t)
  },
  'tls.clientCaFile': async (t) => {
    const clientCaFile = certificateFiles(t, 'renewed').certFile
    const tls = { ...certificateFiles(t), clientCaFile }
    const { port } = await echoing(t, { engine: 'node', tls })
    const { cert, key } = FAKE_CERTIFICATES.renewed
    assert.equal(await statusOverTls(port, { cert, key }), '200')
    assert.notEqual(await statusOverTls(port, {}), '200')
    await refused({ tls }, /tls\.clientCaFile needs engine: node/)(t)
  },
  'tls.clientCertificate': async (t) => {
    const clientCaFile = certificateFiles(t, 'renewed').certFile
    const tls = { ...certificateFiles(t), clientCaFile, clientCertificate: 'optional' }
    const { port } = await echoing(t, { engine: 'node', tls })
    const { renewed, localhost } = FAKE_CERTIFICATES
    assert.equal(await statusOverTls(port, { cert: renewed.cert, key: renewed.key }), '200')
    assert.equal(await statusOverTls(port, {}), '200')
    assert.notEqual(await statusOverTls(port, { cert: localhost.cert, key: localhost.key }), '200')
    await refused({ tls }, /tls\.clientCertificate needs engine: node/)(t)
    const alone = { ...certificateFiles(t), clientCertificate: 'optional' }
    await refused({ engine: 'node', tls: alone }, /clientCertificate has no effect without/)(t)
  },
  'tls.minVersion': async (t) => {
    const tls = { ...certificateFiles(t), minVersion: 'TLSv1.3' }
    const { port } = await echoing(t, { engine: 'node', tls })
    assert.equal(await statusOverTls(port, {}), '200')
    assert.notEqual(await statusOverTls(port, { maxVersion: 'TLSv1.2' }), '200')
    await refused({ tls }, /tls\.minVersion needs engine: node/)(t)
  },
  'http2.alpn': async (t) => {
    for (const [alpn, protocol] of [
      [true, 'h2'],
      [false, 'http/1.1'],
    ] as const) {
      const gateway = await echoing(t, { engine: 'node', tls: certificateFiles(t), http2: { alpn } })
      const offer = { ALPNProtocols: ['h2', 'http/1.1'], rejectUnauthorized: false }
      const socket = tls.connect({ port: gateway.port, host: '127.0.0.1', ...offer })
      t.after(() => socket.destroy())
      await once(socket, 'secureConnect')
      assert.equal(socket.alpnProtocol, protocol)
    }
    await refused({ http2: { alpn: true } }, /http2 .*needs engine: node/s)(t)
  },
  'http2.priorKnowledge': async (t) => {
    for (const [priorKnowledge, status] of [
      [true, 200],
      [false, 0],
    ] as const) {
      const gateway = await echoing(t, { engine: 'node', http2: { priorKnowledge } })
      assert.equal(await statusOverHttp2(t, gateway.url), status)
    }
  },
  'http2.streams': async (t) => {
    const gateway = await echoing(t, { engine: 'node', http2: { priorKnowledge: true, streams: 7 } })
    const session = http2.connect(gateway.url)
    t.after(() => session.destroy())
    const [settings] = (await once(session, 'remoteSettings')) as [http2.Settings]
    assert.equal(settings.maxConcurrentStreams, 7)
  },
  trustedProxies: async (t) => {
    const headers = { 'x-forwarded-for': '192.0.2.7' }
    for (const [trustedProxies, isBelieved] of [
      [['127.0.0.0/8'], true],
      [[], false],
    ] as const) {
      const gateway = await echoing(t, { trustedProxies })
      assert.equal((await (await fetch(gateway.url, { headers })).text()).includes('192.0.2.7'), isBelieved)
    }
  },
  proxyProtocol: async (t) => {
    const listener = { engine: 'node', trustedProxies: ['127.0.0.0/8'] }
    for (const [proxyProtocol, seen] of [
      [true, '"x-forwarded-for":"192.0.2.7"'],
      [false, 'HTTP/1.1 400'],
    ] as const) {
      const client = await connectRaw(t, (await echoing(t, { ...listener, proxyProtocol })).port)
      client.send('PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n')
      await until(() => client.text.includes(seen))
    }
    await refused({ proxyProtocol: true }, /proxyProtocol needs engine: node/)(t)
  },
  allowHalfClose: async (t) => {
    for (const [allowHalfClose, statuses] of [
      [true, [200]],
      [false, []],
    ] as const) {
      const gateway = await echoing(t, { engine: 'node', allowHalfClose })
      const client = await connectRaw(t, gateway.port)
      client.send('GET /a HTTP/1.1\r\nHost: a\r\n\r\n')
      client.halfClose()
      await until(() => client.isClosed)
      assert.deepEqual(statusesOf(client.text), statuses)
    }
    await refused({ allowHalfClose: true }, /allowHalfClose needs engine: node/)(t)
  },
  forwardedHeader: async (t) => {
    const headers = { 'x-forwarded-for': '192.0.2.7', forwarded: 'for=192.0.2.8' }
    for (const [forwardedHeader, client] of [
      ['x-forwarded-for', '192.0.2.7'],
      ['forwarded', '192.0.2.8'],
    ] as const) {
      const gateway = await echoing(t, { trustedProxies: ['127.0.0.0/8'], forwardedHeader })
      const seen = await (await fetch(gateway.url, { headers })).text()
      assert.deepEqual([...new Set(seen.match(/192\.0\.2\.\d/g))], [client], seen)
    }
  },
  health: async (t) => {
    assert.equal(
      await (await fetch(`${(await echoing(t, { health: true })).url}/-/readyz`)).text(),
      'ready\n',
    )
    assert.match(await (await fetch(`${(await echoing(t, {})).url}/-/readyz`)).text(), /"url":"\/-\/readyz"/)
  },
  paths: async (t) => {
    for (const [paths, status] of [
      ['strict', 400],
      ['as-received', 200],
    ] as const) {
      const gateway = await echoing(t, { paths })
      const answer = await sendRaw(gateway.port, [
        'GET /a/../b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      ])
      assert.deepEqual(statusesOf(answer.text), [status])
    }
  },
  'limits.headerBytes': async (t) => {
    const head = `GET /a HTTP/1.1\r\nX-Long: ${'x'.repeat(1500)}`
    assert.deepEqual(await under(t, { headerBytes: '1kb' }, head), [431, 200])
  },
  'limits.headers': async (t) => {
    assert.deepEqual(await under(t, { headers: 3 }, 'GET /a HTTP/1.1\r\nA: 1\r\nB: 2'), [431, 200])
  },
  'limits.urlBytes': async (t) => {
    assert.deepEqual(await under(t, { urlBytes: '64b' }, `GET /${'a'.repeat(80)} HTTP/1.1`), [414, 200])
  },
  'limits.bodyBytes': async (t) => {
    const gateway = await echoing(t, { limits: { bodyBytes: '9b' } })
    const post = (body: string): Promise<Response> => fetch(gateway.url, { method: 'POST', body })
    assert.deepEqual([(await post('123456789')).status, (await post('1234567890')).status], [200, 413])
  },
  'limits.bodyBufferBytes': async (t) => {
    for (const [bodyBufferBytes, isSent] of [
      ['5b', true],
      ['6b', false],
    ] as const) {
      let received = ''
      const origin = await rawOrigin(t, (socket) => socket.on('data', (chunk) => (received += String(chunk))))
      const gateway = await serve(t, { target: origin.url, listener: { limits: { bodyBufferBytes } } })
      const client = await connectRaw(t, gateway.port)
      client.send(`${POST}Content-Length: 10\r\n\r\nbegin`)
      await until(() => gateway.plane.inFlight === 1 && received.includes('begin') === isSent)
      if (isSent) continue
      client.send('!')
      await until(() => received.includes('begin!'))
    }
  },
  'limits.connections': async (t) => {
    assert.equal(await servedOfThree(t, { connections: 2 }), 2)
  },
  'limits.connectionsPerClient': async (t) => {
    assert.equal(await servedOfThree(t, { connectionsPerClient: 1 }), 1)
    assert.equal(await servedOfThree(t, {}), 3)
  },
  'limits.keepAlive': async (t) => {
    const gateway = await echoing(t, { engine: 'node', limits: { keepAlive: '1s', headTimeout: '10m' } })
    const client = await connectRaw(t, gateway.port)
    client.send('GET /a HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => client.isClosed)
    assert.deepEqual(statusesOf(client.text), [200])
    await refused({ limits: { keepAlive: '1s' } }, /limits\.keepAlive .*needs engine: node/s)(t)
  },
  'limits.headTimeout': async (t) => {
    const gateway = await echoing(t, { engine: 'node', limits: { headTimeout: '1s', keepAlive: '10m' } })
    const client = await connectRaw(t, gateway.port)
    client.send('GET /a HTTP/1.1\r\nHo')
    await until(() => client.isClosed)
    assert.deepEqual(statusesOf(client.text), [408])
    await refused({ limits: { headTimeout: '1s' } }, /limits\.headTimeout .*needs engine: node/s)(t)
  },
  'limits.bodyIdle': async (t) => {
    const startedMono = performance.now()
    assert.equal(await dripped(t, { bodyIdle: '1s', minBodyRate: '0b' }, false), 408)
    assert.ok(performance.now() - startedMono < 20_000, 'before the default')
  },
  'limits.minBodyRate': async (t) => {
    assert.equal(await dripped(t, { bodyIdle: '1s', minBodyRate: '1kb' }, true), 408)
  },
  'limits.minReadRate': async (t) => {
    const bytes = 48 * 1024 * 1024
    const origin = await httpOrigin(t, (_, res) => void res.end(Buffer.alloc(bytes)))
    const upstream = { targets: [origin.url], timeouts: { idle: '1s' } }
    const gateway = await serve(t, { upstream, listener: { limits: { minReadRate: '1gb' } } })
    const client = await connectRaw(t, gateway.port)
    client.pause()
    client.send('GET /a HTTP/1.1\r\nHost: a\r\n\r\n')
    const reading = setInterval(() => {
      client.resume()
      setImmediate(() => client.pause())
    }, 100)
    t.after(() => clearInterval(reading))
    await until(() => origin.connections() === 1)
    await until(() => gateway.plane.inFlight === 0)
    clearInterval(reading)
    client.resume()
    await until(() => client.isClosed)
    assert.ok(client.receivedBytes < bytes)
  },
})
