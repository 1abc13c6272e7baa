import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import { certificateFiles, tlsPlan } from '../../listen/testing/certificate-files.js'
import { testEngines } from '../../listen/testing/engines.js'
import { type PlanOverrides, until } from '../../testing/gateway.js'
import { answering, closedPort, echoOrigin, httpOrigin, rawOrigin } from '../../testing/origin.js'
import { statusesOf } from '../../testing/raw-client.js'
import { connectRaw } from '../../testing/raw-connection.js'
import {
  messageOf,
  openWebSocket,
  refusedWith,
  webSocketOrigin,
  webSocketRoute,
} from '../../testing/websocket.js'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='

/** A handshake with some fields replaced; undefined removes a field. */
function handshake(
  changes: Readonly<Record<string, string | undefined>> = {},
  line = 'GET /a HTTP/1.1',
): string {
  const fields: Record<string, string | undefined> = {
    host: 'a',
    connection: 'keep-alive, Upgrade',
    upgrade: 'WebSocket',
    'sec-websocket-key': KEY,
    'sec-websocket-version': '13',
    ...changes,
  }
  const lines = Object.entries(fields).filter(([, value]) => value !== undefined)
  return `${line}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

function planFor(...urls: string[]): PlanOverrides {
  return { upstreams: [{ urls }], routes: [webSocketRoute()] }
}

testEngines(
  'a handshake reaches the target with its forwarding fields, and its response the client',
  async (t, start) => {
    const origin = await webSocketOrigin(t, { protocols: (offered) => [...offered][1]! })
    const gateway = await start(t, planFor(origin.url))
    const client = await openWebSocket(t, `${gateway.url}/chat?room=1`, { protocols: ['a', 'b', 'c'] })
    assert.equal(client.protocol, 'b')
    const { url, headers } = origin.requests[0]!
    assert.equal(url, '/chat?room=1')
    assert.equal(headers['x-forwarded-for'], '127.0.0.1')
    assert.equal(headers.connection, 'Upgrade')
    assert.equal(headers.host, `127.0.0.1:${gateway.port}`)
    assert.equal(headers['sec-websocket-extensions'], undefined)
  },
)

testEngines('a 101 goes to the client with the fields of the target and the request id', async (t, start) => {
  const fields = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${ACCEPT}\r\nX-A: b\r\n`
  const origin = await rawOrigin(t, answering(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n`))
  const gateway = await start(t, planFor(origin.url))
  const client = await connectRaw(t, gateway.port)
  client.send(handshake())
  await until(() => client.text.includes('\r\n\r\n'))
  assert.match(client.text, /^HTTP\/1.1 101 /)
  assert.match(client.text, /\r\nx-a: b\r\n/i)
  assert.match(client.text, /\r\nx-request-id: [^\r]+\r\n/i)
  for (const name of ['sec-websocket-accept', 'upgrade', 'connection', 'date']) {
    assert.equal(client.text.match(new RegExp(`\r\n${name}: `, 'gi'))?.length, 1, name)
  }
  assert.ok(client.text.includes(ACCEPT))
})

testEngines('clients over TLS', async (t, start) => {
  const origin = await webSocketOrigin(t)
  const plan = planFor(origin.url)
  const gateway = await start(t, { ...plan, listener: { tls: tlsPlan(certificateFiles(t)) } })
  for (let i = 0; i < 10; i++) {
    const client = await openWebSocket(t, `wss://127.0.0.1:${gateway.port}/a`, { rejectUnauthorized: false })
    const answer = messageOf(client)
    client.send('sealed'.repeat(10_000))
    assert.equal((await answer).length, 60_000)
  }
})

testEngines('a target over TLS is contacted with the options of its upstream', async (t, start) => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-websocket-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const caFile = join(dir, 'ca.pem')
  writeFileSync(caFile, FAKE_CERTIFICATES.localhost.cert)
  const origin = await webSocketOrigin(t, { tls: FAKE_CERTIFICATES.localhost })
  const tls = {
    ...{ caFile, certFile: null, keyFile: null, servername: 'localhost', insecure: false },
    ...{ minVersion: 'TLSv1.2' as const, pins: [] },
  }
  const trusting = await start(t, { ...planFor(), upstreams: [{ urls: [origin.url], tls }] })
  const client = await openWebSocket(t, trusting.url)
  const answer = messageOf(client)
  client.send('sealed'.repeat(50_000))
  assert.equal((await answer).length, 300_000)
  const strict = await start(t, {
    ...planFor(),
    upstreams: [{ urls: [origin.url], tls: { ...tls, caFile: null } }],
  })
  assert.equal((await refusedWith(t, strict.url)).statusCode, 502)
})

testEngines('a refusal of the target is passed on as an ordinary response', async (t, start) => {
  for (const status of [200, 401, 403, 426, 500]) {
    const origin = await httpOrigin(t, (_, res) =>
      res.writeHead(status, { 'x-a': 'b', 'content-length': 2 }).end('no'),
    )
    const gateway = await start(t, planFor(origin.url))
    const client = await connectRaw(t, gateway.port)
    client.send(handshake())
    await until(() => client.isClosed)
    assert.deepEqual(statusesOf(client.text), [status])
    assert.match(client.text, /\r\nx-a: b\r\n/i)
    assert.ok(client.text.endsWith('\r\n\r\nno'), client.text)
    await until(() => gateway.plane.inFlight === 0)
  }
})

const accepting = (key = KEY): string => {
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n`
}
const LIES: readonly (readonly [name: string, answer: string])[] = [
  ['a wrong accept key', accepting('AAAAAAAAAAAAAAAAAAAAAA==')],
  ['no accept key', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'],
  ['two accept keys', `${accepting()}Sec-WebSocket-Accept: ${ACCEPT}\r\n`],
  ['another protocol', accepting().replace('Upgrade: websocket', 'Upgrade: tunnel')],
  ['no Connection: Upgrade', accepting().replace('Connection: Upgrade', 'Connection: keep-alive')],
  ['a sub-protocol nobody asked for', `${accepting()}Sec-WebSocket-Protocol: chat\r\n`],
  ['an extension nobody asked for', `${accepting()}Sec-WebSocket-Extensions: permessage-deflate\r\n`],
  ['a head that is not valid', 'HTTP/1.1 101 Switching Protocols\r\nbad line\r\n'],
]
for (const [name, answer] of LIES) {
  testEngines(`a target that answers 101 with ${name} leads to 502`, async (t, start) => {
    const origin = await rawOrigin(t, answering(`${answer}\r\n`))
    const gateway = await start(t, planFor(origin.url))
    const client = await connectRaw(t, gateway.port)
    client.send(handshake())
    await until(() => client.isClosed)
    assert.deepEqual(statusesOf(client.text), [502])
    assert.match(client.text, /GW_UPSTREAM_INVALID/)
    assert.equal(origin.connections(), 1)
  })
}

testEngines('an unreachable target is replaced by the next one', async (t, start) => {
  const origin = await webSocketOrigin(t)
  const gateway = await start(t, planFor(`http://127.0.0.1:${await closedPort()}`, origin.url))
  for (let i = 0; i < 2; i++) await openWebSocket(t, gateway.url)
  const alone = await start(t, planFor(`http://127.0.0.1:${await closedPort()}`))
  assert.equal((await refusedWith(t, alone.url)).statusCode, 502)
})

testEngines('a target that does not answer the handshake in time leads to 504', async (t, start) => {
  const origin = await rawOrigin(t, () => {})
  const timeouts = { connectMs: 1000, headersMs: 100, idleMs: 1000, totalMs: 0 }
  const route = { ...webSocketRoute(), timeouts }
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }], routes: [route] })
  assert.equal((await refusedWith(t, gateway.url)).statusCode, 504)
  assert.equal(origin.connections(), 1)
})

testEngines(
  'a client that disconnects before the response leaves no connection to the target',
  async (t, start) => {
    let isClosed = false
    const origin = await rawOrigin(t, (socket) => socket.resume().on('close', () => (isClosed = true)))
    const gateway = await start(t, planFor(origin.url))
    const client = await connectRaw(t, gateway.port)
    client.send(handshake())
    await until(() => origin.connections() === 1)
    client.reset()
    await until(() => isClosed && gateway.plane.inFlight === 0 && gateway.plane.connections === 0)
  },
)

const INVALID: readonly (readonly [name: string, sent: string, status: number])[] = [
  ['version 8', handshake({ 'sec-websocket-version': '8' }), 426],
  ['no version', handshake({ 'sec-websocket-version': undefined }), 426],
  ['no key', handshake({ 'sec-websocket-key': undefined }), 400],
  ['a short key', handshake({ 'sec-websocket-key': 'c2hvcnQ=' }), 400],
  ['a key that is no base64', handshake({ 'sec-websocket-key': '!!!!!!!!!!!!!!!!!!!!!!==' }), 400],
  ['two keys', handshake({ 'Sec-WebSocket-Key': KEY }), 400],
  ['a body', `${handshake({ 'content-length': '4' })}body`, 400],
  ['POST', handshake({}, 'POST /a HTTP/1.1'), 400],
]
for (const [name, sent, status] of INVALID) {
  testEngines(
    `a handshake with ${name} is refused with ${status}, and the connection closed`,
    async (t, start) => {
      const origin = await echoOrigin(t)
      const gateway = await start(t, planFor(origin.url))
      const client = await connectRaw(t, gateway.port)
      client.send(sent)
      await until(() => client.isClosed)
      assert.deepEqual(statusesOf(client.text), [status])
      if (status === 426) assert.match(client.text, /\r\nsec-websocket-version: 13\r\n/i)
      assert.equal(origin.connections(), 0)
    },
  )
}

// uWebSockets.js mistakes any first Connection field of five letters for "close".
for (const connection of [
  'close\r\nconnection: Upgrade',
  'close, Upgrade',
  'Upgrade\r\nconnection: close',
  'other\r\nconnection: Upgrade',
]) {
  testEngines(`a handshake with "Connection: ${connection}" is refused`, async (t, start) => {
    const origin = await webSocketOrigin(t)
    const gateway = await start(t, planFor(origin.url))
    const client = await connectRaw(t, gateway.port)
    client.send(handshake({ connection }))
    await until(() => client.isClosed)
    assert.deepEqual(statusesOf(client.text), [400])
    assert.equal(origin.requests.length, 0)
    await openWebSocket(t, gateway.url)
  })
}

/** Requests that are not handshakes, whatever fields they have. */
testEngines(
  'a request with the fields of a handshake but no Upgrade is served as an ordinary request',
  async (t, start) => {
    const origin = await echoOrigin(t)
    const gateway = await start(t, planFor(origin.url))
    const client = await connectRaw(t, gateway.port)
    client.send(handshake({ upgrade: undefined, connection: undefined }))
    await until(() => client.text.includes('"bytes":0'))
    assert.deepEqual(statusesOf(client.text), [200])
  },
)

testEngines(
  'bytes that arrive before the 101 are never parsed as a request, nor forwarded',
  async (t, start) => {
    const origin = await rawOrigin(t, answering(`${accepting()}\r\n`))
    const gateway = await start(t, planFor(origin.url))
    for (const early of ['GET /admin HTTP/1.1\r\nHost: a\r\n\r\n', '\x81\x80\x00\x00\x00\x00']) {
      const client = await connectRaw(t, gateway.port)
      client.send(handshake() + early)
      await until(() => client.isClosed)
      assert.ok(!statusesOf(client.text).includes(101), client.text)
      assert.ok(statusesOf(client.text).length <= 1)
    }
    await until(() => gateway.plane.inFlight === 0)
  },
)

testEngines('a request after a refused handshake is not served', async (t, start) => {
  const origin = await httpOrigin(t, (_, res) => res.writeHead(403).end())
  const gateway = await start(t, planFor(origin.url))
  const client = await connectRaw(t, gateway.port)
  client.send(`${handshake()}GET /next HTTP/1.1\r\nHost: a\r\n\r\n`)
  await until(() => client.isClosed)
  assert.ok(statusesOf(client.text).length <= 1)
  assert.ok(origin.connections() <= 1)
})

/** Compression that both sides support. */
async function compressed(t: TestContext, url: string): Promise<string> {
  const client = await openWebSocket(t, url, { perMessageDeflate: { threshold: 0 } })
  const answer = messageOf(client)
  client.send('z'.repeat(100_000))
  assert.equal((await answer).length, 100_000)
  return client.extensions
}

testEngines(
  'compression is negotiated end to end if the route passes it and the engine can',
  async (t, start, engine) => {
    const origin = await webSocketOrigin(t, { compresses: true })
    const upstreams = [{ urls: [origin.url] }]
    const passing = await start(t, { upstreams, routes: [webSocketRoute({ compression: 'pass' })] })
    assert.equal(await compressed(t, passing.url), engine === 'node' ? 'permessage-deflate' : '')
    const refusing = await start(t, { upstreams, routes: [webSocketRoute()] })
    assert.equal(await compressed(t, refusing.url), '')
  },
)

test('a worker on uWebSockets.js writes nothing to stderr for WebSockets, and closes none by mistake', async (t) => {
  const program = `
    import { test } from 'node:test'
    import { once } from 'node:events'
    const { startGateway, until } = await import(${JSON.stringify(new URL('../../testing/gateway.js', import.meta.url))})
    const ws = await import(${JSON.stringify(new URL('../../testing/websocket.js', import.meta.url))})
    test('x', async (t) => {
      const origin = await ws.webSocketOrigin(t)
      const gateway = await startGateway(t, { listener: { engine: 'uws' }, upstreams: [{ urls: [origin.url] }], routes: [ws.webSocketRoute()] })
      for (let i = 0; i < 100; i++) {
        const client = await ws.openWebSocket(t, gateway.url)
        client.send('a')
        await ws.messageOf(client)
      }
    })`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
  t.after(() => child.kill())
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (text) => (output[name] += text))
  const [code] = await once(child, 'close')
  assert.deepEqual([code, output.stderr], [0, ''], output.stdout)
})
