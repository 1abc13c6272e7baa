import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  connectHttp2,
  END_STREAM,
  FRAME,
  fieldsOf,
  frame,
  opening,
} from '../listen/node/http2/testing/raw-client.js'
import { testEngines } from '../listen/testing/engines.js'
import { FAKE_POLICIES, fakeCatalog } from '../testing/fake-policy.js'
import { startGateway, until } from '../testing/gateway.js'
import { echoOrigin } from '../testing/origin.js'
import { statusesOf } from '../testing/raw-client.js'
import { connectRaw, type RawConnection } from '../testing/raw-connection.js'
import { REQUEST_MEMORY } from './arriving-body.js'

const KB = 1024
const BODY_BYTES = 60 * KB
const PATIENT = { bodyIdleMs: 300_000 }
const POST = fieldsOf({ ':method': 'POST', ':path': '/a' })

/** Limits the worker to a megabyte. */
function limitMemory(t: TestContext): void {
  const { maxBytes } = REQUEST_MEMORY
  REQUEST_MEMORY.maxBytes = KB * KB
  t.after(() => (REQUEST_MEMORY.maxBytes = maxBytes))
}

const CASES = { streamed: {}, 'read by a policy': { routes: [{ id: 'all', policies: FAKE_POLICIES }] } }

for (const [how, overrides] of Object.entries(CASES))
  testEngines(`bodies that never end use no more memory than the limit: ${how}`, async (t, start) => {
    limitMemory(t)
    const origin = await echoOrigin(t)
    const plan = { upstreams: [{ urls: [origin.url] }], listener: { limits: PATIENT }, ...overrides }
    const gateway = await start(t, plan, { catalog: fakeCatalog({ onRequestBody: () => null }) })
    const clients: RawConnection[] = []
    for (let i = 0; i < 40; i++) {
      const client = await connectRaw(t, gateway.port)
      client.send(`POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY_BYTES + 1}\r\n\r\n`)
      client.send(Buffer.alloc(BODY_BYTES))
      clients.push(client)
    }
    const refused = (): number => clients.filter(({ text }) => statusesOf(text)[0] === 503).length
    await until(() => refused() >= 40 - Math.floor((KB * KB) / BODY_BYTES))
    assert.ok(REQUEST_MEMORY.heldBytes > 0 && REQUEST_MEMORY.heldBytes <= KB * KB)
    assert.ok(refused() < 40)
    assert.match(clients.find(({ text }) => text !== '')!.text, /\nretry-after: 1\r\n[\s\S]*GW_OVERLOADED/i)
    // A body in one piece is not collected.
    assert.equal((await fetch(`${gateway.url}/a`, { method: 'POST', body: 'small' })).status, 200)
    for (const client of clients) client.reset()
    await until(() => REQUEST_MEMORY.heldBytes === 0 && gateway.plane.inFlight === 0)
    const large = await fetch(`${gateway.url}/a`, { method: 'POST', body: Buffer.alloc(500 * KB) })
    assert.equal(large.status, 200)
  })

test('HTTP/2: bodies that never end use no more memory than the limit', async (t) => {
  limitMemory(t)
  const origin = await echoOrigin(t)
  const http2 = { alpn: true, priorKnowledge: true, streams: 100 }
  const gateway = await startGateway(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { engine: 'node', http2, limits: PATIENT },
  })
  const client = await connectHttp2(t, gateway.port)
  const streams = Array.from({ length: 40 }, (_, nth) => 2 * nth + 1)
  const upload = (stream: number): Buffer[] => [
    opening(stream, POST),
    ...Array.from({ length: 4 }, () => frame(FRAME.data, 0, stream, Buffer.alloc(15 * KB))),
  ]
  client.send(...streams.flatMap(upload))
  const answered = (): number =>
    new Set(client.frames.filter(({ type }) => type === FRAME.headers).map(({ stream }) => stream)).size
  await until(() => answered() >= 40 - Math.floor((KB * KB) / BODY_BYTES))
  assert.ok(answered() < 40 && REQUEST_MEMORY.heldBytes <= KB * KB)
  client.send(...streams.map((stream) => frame(FRAME.data, END_STREAM, stream)))
  await until(() => answered() === 40 && REQUEST_MEMORY.heldBytes === 0)
})
