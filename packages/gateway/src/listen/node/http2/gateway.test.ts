import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http2 from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type PlanOverrides, startGateway, until } from '../../../testing/gateway.js'
import { echoOrigin, httpOrigin, rawOrigin } from '../../../testing/origin.js'
import { startLogged } from '../../../testing/traffic-records.js'
import { certificateFiles, tlsPlan } from '../../testing/certificate-files.js'
import { connectHttp2, FRAME, fieldsOf, frame, opening, request } from './testing/raw-client.js'

// HTTP/2 through the whole gateway, whose targets speak HTTP/1.1.

const NODE: PlanOverrides['listener'] = {
  engine: 'node',
  http2: { alpn: true, priorKnowledge: true, streams: 100 },
}

function connect(t: TestContext, url: string): http2.ClientHttp2Session {
  const session = http2.connect(url).on('error', () => {})
  t.after(() => session.destroy())
  return session
}

async function bodyOf(stream: http2.ClientHttp2Stream): Promise<string> {
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return text
}

test('a call over HTTP/2 reaches a target over HTTP/1.1, and its record says so', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startLogged(t, { upstreams: [{ urls: [origin.url] }], listener: NODE })
  const session = connect(t, gateway.url)
  const stream = session.request({ ':method': 'POST', ':path': '/a?b=c', cookie: ['a=1', 'b=2'] })
  stream.end('x'.repeat(300_000))
  const seen = JSON.parse(await bodyOf(stream)) as {
    url: string
    bytes: number
    headers: Record<string, string>
  }
  assert.deepEqual([seen.url, seen.bytes, seen.headers['cookie']], ['/a?b=c', 300_000, 'a=1; b=2'])
  assert.equal(seen.headers['host'], `127.0.0.1:${gateway.port}`)
  const bad = session.request({ ':path': '/a', ':authority': 'a', host: 'other' })
  assert.match(await bodyOf(bad), /GW_BAD_REQUEST/)
  session.close()
  const records = await gateway.records()
  assert.deepEqual(
    records.map((record) => JSON.stringify(record).match(/"2"/)?.[0]),
    ['"2"', '"2"'],
  )
})

test('a reset of the client cancels its call at the target, and no other', async (t) => {
  let closed = 0
  let asked = 0
  const origin = await rawOrigin(t, (socket) => {
    socket.on('data', () => asked++)
    socket.on('close', () => closed++)
  })
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }], listener: NODE })
  const session = connect(t, gateway.url)
  const [first] = [
    session.request({ ':path': '/a' }),
    session.request({ ':path': '/b' }).on('error', () => {}),
  ]
  await until(() => asked === 2)
  first!.close(http2.constants.NGHTTP2_CANCEL)
  await until(() => closed === 1 && gateway.plane.inFlight === 1)
})

test('a target that dies in the middle of its response resets the stream; the connection stays open', async (t) => {
  const origin = await httpOrigin(t, (req, res) => {
    if (req.url === '/ok') res.end('ok')
    else {
      res.writeHead(200, { 'content-length': '100' }).write('part')
      setImmediate(() => res.destroy())
    }
  })
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }], listener: NODE })
  const session = connect(t, gateway.url)
  const cut = session.request({ ':path': '/cut' })
  await assert.rejects(bodyOf(cut))
  assert.equal(await bodyOf(session.request({ ':path': '/ok' })), 'ok')
})

test('a slow upload ends in 408, and other requests of its connection are served', async (t) => {
  const origin = await echoOrigin(t)
  const limits = { bodyIdleMs: 300, minBodyRate: 0 }
  const gateway = await startGateway(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { ...NODE, limits },
  })
  const session = connect(t, gateway.url)
  const slow = session.request({ ':method': 'POST', ':path': '/slow' })
  slow.write('begin')
  let status = 0
  slow.on('error', () => {}).on('response', (headers) => (status = Number(headers[':status'])))
  assert.match(await bodyOf(session.request({ ':path': '/fast' })), /fast/)
  await until(() => status === 408)
})

test('a client that reads nothing holds its target no longer than allowed', async (t) => {
  const origin = await httpOrigin(t, (_, res) => void res.end(Buffer.alloc(20_000_000)))
  const timeouts = { connectMs: 10_000, headersMs: 20_000, idleMs: 500, totalMs: 60_000 }
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url], timeouts }], listener: NODE })
  const client = await connectHttp2(t, gateway.port)
  client.send(request(1))
  await until(() => gateway.plane.inFlight === 1)
  await until(() => gateway.plane.inFlight === 0)
  await until(() => client.resetOf(1) !== null)
})

test('draining announces the end, and completes requests in progress', async (t) => {
  let answer = (): void => {}
  const origin = await httpOrigin(t, (_, res) => (answer = () => void res.end('last')))
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }], listener: NODE })
  const client = await connectHttp2(t, gateway.port)
  client.send(request(1))
  await until(() => gateway.plane.inFlight === 1)
  const drained = gateway.plane.drain(20_000)
  await until(() => client.goaway === 0)
  answer()
  assert.equal(await drained, 0)
  assert.ok(client.frames.some(({ type, payload }) => type === FRAME.data && payload.toString() === 'last'))
})

test('a half-closed connection is over, and its calls are cancelled', async (t) => {
  let closed = 0
  const origin = await rawOrigin(t, (socket) => void socket.on('close', () => closed++).resume())
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }], listener: NODE })
  const client = await connectHttp2(t, gateway.port)
  client.send(request(1), request(3))
  await until(() => origin.connections() === 2)
  client.halfClose()
  await until(() => closed === 2 && gateway.plane.connections === 0)
  assert.equal(gateway.plane.inFlight, 0)
})

test('with allowHalfClose a half-closed connection gets the responses to its requests', async (t) => {
  const origin = await echoOrigin(t)
  const listener = { ...NODE, allowHalfClose: true }
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }], listener })
  const client = await connectHttp2(t, gateway.port)
  client.send(opening(1, fieldsOf({ ':method': 'POST' })), frame(FRAME.data, 1, 1, Buffer.from('body')))
  client.halfClose()
  await until(() => client.isClosed)
  assert.ok(client.frames.some(({ type, payload }) => type === FRAME.data && payload.includes('"bytes":4')))
})

test('HTTP/2 connections count like all others', async (t) => {
  const gateway = await startGateway(t, { routes: [], listener: { ...NODE, limits: { connections: 2 } } })
  const clients = [await connectHttp2(t, gateway.port), await connectHttp2(t, gateway.port)]
  assert.equal(gateway.plane.connections, 2)
  await assert.rejects(bodyOf(connect(t, gateway.url).request({})))
  for (const client of clients) client.halfClose()
  await until(() => gateway.plane.connections === 0)
})

test('the preface byte by byte is HTTP/2, a request similar to it is HTTP/1.1', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }], listener: NODE })
  const client = await connectHttp2(t, gateway.port, { isSlow: true })
  client.send(request(1))
  await until(() => client.frames.some(({ type }) => type === FRAME.data))
  assert.equal((await fetch(gateway.url)).status, 200)
})

test('the client is the one named by the PROXY protocol', async (t) => {
  const origin = await echoOrigin(t)
  const trust = { proxyProtocol: true, trustedProxies: ['127.0.0.1'] }
  const gateway = await startGateway(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { ...NODE, ...trust },
  })
  const before = 'PROXY TCP4 192.0.2.1 127.0.0.1 1234 80\r\n'
  const client = await connectHttp2(t, gateway.port, { before })
  client.send(request(1))
  await until(() =>
    client.frames.some(({ type, payload }) => type === FRAME.data && payload.includes('192.0.2.1')),
  )
})

/** True if the program is installed. A missing one is reported by tools/services/services.mjs. */
function isThere(command: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}

async function run(command: string, args: readonly string[]): Promise<string> {
  const program = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  program.stdout.on('data', (chunk) => (text += String(chunk)))
  await new Promise((resolve) => program.once('close', resolve))
  return text
}

const CURL = ['-sS', '-k', '-o', '/dev/null', '-w', '%{http_version} %{http_code} %{size_download}\n']

test('curl speaks HTTP/2 by ALPN and by prior knowledge', {
  skip: !isThere('curl') && 'no curl',
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-http2-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const tls = tlsPlan(certificateFiles(t))
  const origin = await httpOrigin(t, (req, res) => void req.pipe(res))
  const upstreams = [{ urls: [origin.url] }]
  const secure = await startGateway(t, { upstreams, listener: { ...NODE, tls } })
  const plain = await startGateway(t, { upstreams, listener: NODE })
  const upload = join(dir, 'upload')
  writeFileSync(upload, Buffer.alloc(3_000_000, 'u'))
  const post = ['--data-binary', `@${upload}`]
  const url = secure.url.replace('http:', 'https:')
  assert.equal(await run('curl', [...CURL, '--http2', ...post, url]), '2 200 3000000\n')
  assert.equal(await run('curl', [...CURL, '--http1.1', ...post, url]), '1.1 200 3000000\n')
  assert.equal(await run('curl', [...CURL, '--http2-prior-knowledge', ...post, plain.url]), '2 200 3000000\n')
})

test('h2load gets every response with 100 streams per connection', {
  skip: !isThere('h2load') && 'no h2load',
}, async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startGateway(t, {
    upstreams: [{ urls: [origin.url], maxPending: 1000 }],
    listener: NODE,
  })
  const report = await run('h2load', ['-n', '3000', '-c', '3', '-m', '100', gateway.url])
  assert.match(report, /3000 succeeded, 0 failed, 0 errored, 0 timeout/)
  assert.match(report, /status codes: 3000 2xx/)
})
