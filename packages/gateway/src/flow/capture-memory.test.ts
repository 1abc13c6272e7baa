import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { CAPTURE_MEMORY, refusal } from '@sluice/core'
import { FAKE_POLICIES, fakeCatalog } from '../testing/fake-policy.js'
import { TIMEOUTS, until } from '../testing/gateway.js'
import { closedPort, echoOrigin, httpOrigin, rawOrigin } from '../testing/origin.js'
import { statusesOf } from '../testing/raw-client.js'
import { connectRaw } from '../testing/raw-connection.js'
import { captureOf, type LoggedGateway, startLogged } from '../testing/traffic-records.js'

const ON = { headers: true, body: true }
const EVERYTHING = captureOf({ requestIn: ON, requestUp: ON, responseUp: ON, responseOut: ON })
const UPLOAD = 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nbegin'

async function post(gateway: LoggedGateway): Promise<number> {
  const body = 'x'.repeat(3000)
  const answer = await fetch(`${gateway.url}/a`, { method: 'POST', body })
  await answer.arrayBuffer()
  return answer.status
}

/** The status of an upload, also if the gateway closes after an early refusal. */
async function uploadedStatus(t: TestContext, gateway: LoggedGateway): Promise<number> {
  const client = await connectRaw(t, gateway.port)
  client.send(UPLOAD + 'x'.repeat(95))
  await until(() => statusesOf(client.text).length > 0)
  return statusesOf(client.text)[0]!
}

/** Waits for the end of all requests; then no memory may be held. */
async function assertNothingIsHeld(gateway: LoggedGateway): Promise<void> {
  await until(() => gateway.plane.inFlight === 0)
  assert.equal(CAPTURE_MEMORY.heldBytes, 0)
}

function startWith(t: TestContext, url: string, capture = EVERYTHING): Promise<LoggedGateway> {
  return startLogged(t, { upstreams: [{ urls: [url], timeouts: TIMEOUTS }] }, { capture })
}

test('a client that disconnects during its upload releases the memory of its body', async (t) => {
  let begun = 0
  const origin = await rawOrigin(t, (socket) => socket.on('data', () => begun++))
  const limits = { bodyBufferBytes: 0 }
  const upstreams = [{ urls: [origin.url], timeouts: TIMEOUTS }]
  const gateway = await startLogged(t, { upstreams, listener: { limits } }, { capture: EVERYTHING })
  const client = await connectRaw(t, gateway.port)
  client.send(UPLOAD)
  await until(() => begun > 0)
  assert.ok(CAPTURE_MEMORY.heldBytes >= 5)
  client.reset()
  await assertNothingIsHeld(gateway)
})

test('a client that disconnects during its response releases the memory of both bodies', async (t) => {
  const origin = await httpOrigin(t, (req, res) => {
    req.resume().on('end', () => res.write('begin'))
  })
  const gateway = await startWith(t, origin.url)
  const client = await connectRaw(t, gateway.port)
  client.send(UPLOAD + 'x'.repeat(95))
  await until(() => client.text.includes('begin'))
  assert.ok(CAPTURE_MEMORY.heldBytes >= 105)
  client.reset()
  await assertNothingIsHeld(gateway)
})

test('refusals release memory: by a policy, without a target, without a route', async (t) => {
  const origin = await echoOrigin(t)
  const catalog = fakeCatalog({ onRequest: () => refusal('GW_POLICY_REFUSED', 'not here') })
  const overrides = { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', policies: FAKE_POLICIES }] }
  const refusing = await startLogged(t, overrides, { capture: EVERYTHING }, { catalog })
  assert.equal(await uploadedStatus(t, refusing), 403)
  await assertNothingIsHeld(refusing)
  const lost = await startWith(t, `http://127.0.0.1:${await closedPort()}`)
  assert.equal(await uploadedStatus(t, lost), 502)
  await assertNothingIsHeld(lost)
  const path = { text: '', kind: 'any' as const, segments: [] }
  const match = { hosts: ['elsewhere'], path, methods: [], headers: [], query: [], when: null }
  const routeless = await startLogged(
    t,
    { ...overrides, routes: [{ id: 'all', match }] },
    { capture: EVERYTHING },
  )
  assert.equal(await uploadedStatus(t, routeless), 404)
  await assertNothingIsHeld(routeless)
})

test('bodies that keepBodyOn drops release their memory, and those that it keeps, too', async (t) => {
  const origin = await echoOrigin(t)
  for (const status of [500, 200]) {
    const keepBodyOn = { results: [], slowMs: null, status, share: null }
    const gateway = await startWith(t, origin.url, { ...EVERYTHING, keepBodyOn })
    assert.equal(await post(gateway), 200)
    await assertNothingIsHeld(gateway)
    const [record] = await gateway.records()
    assert.equal(record!.body === undefined, status === 500)
  }
})

test('an upstream that breaks off its response releases memory', async (t) => {
  const origin = await rawOrigin(t, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegin'))
  })
  const gateway = await startWith(t, origin.url)
  await assert.rejects(post(gateway))
  await assertNothingIsHeld(gateway)
})
