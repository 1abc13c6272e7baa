import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Heartbeat } from '../telemetry/heartbeat.js'
import { FAKE_POLICIES, fakeCatalog } from '../testing/fake-policy.js'
import { type PlanOverrides, startGateway, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { connectRaw } from '../testing/raw-connection.js'

// A thousand connections may each deliver a chunk in one turn of the event loop: each chunk is a sign of life.

const PIECE = 'x'.repeat(100)

/** A heartbeat whose timer is always late, and how often it was noticed. */
function lateHeartbeat() {
  let beats = 0
  const heartbeat = new Heartbeat(
    () => {},
    () => beats++,
  )
  return {
    heartbeat,
    /** Makes the timer late, and waits until somebody has noticed. */
    isNoticed: async (act: () => void): Promise<void> => {
      heartbeat.dueMono = 0
      const before = beats
      act()
      await until(() => beats > before)
    },
  }
}

const READERS: Readonly<Record<string, PlanOverrides>> = {
  'that waits for more before it goes to its upstream': {},
  'on its way to its upstream': { listener: { limits: { bodyBufferBytes: 0 } } },
  'that a policy reads': { routes: [{ id: 'all', policies: FAKE_POLICIES }] },
}

for (const [name, overrides] of Object.entries(READERS)) {
  test(`each chunk of a request body ${name} shows that the worker is alive`, async (t) => {
    const origin = await httpOrigin(t, (request) => request.resume())
    const late = lateHeartbeat()
    const catalog = fakeCatalog({ onRequestBody: () => null })
    const gateway = await startGateway(
      t,
      { upstreams: [{ urls: [origin.url] }], ...overrides },
      { catalog, heartbeat: late.heartbeat },
    )
    const client = await connectRaw(t, gateway.port)
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n')
    await until(() => gateway.plane.inFlight === 1)
    for (let i = 0; i < 3; i++) await late.isNoticed(() => client.send(PIECE))
    assert.equal(gateway.plane.inFlight, 1)
  })
}

test('each chunk of a response shows that the worker is alive', async (t) => {
  let sendPiece = (): void => {}
  const origin = await httpOrigin(t, (_, response) => {
    sendPiece = () => void response.write(PIECE)
    response.flushHeaders()
  })
  const late = lateHeartbeat()
  const gateway = await startGateway(
    t,
    { upstreams: [{ urls: [origin.url] }] },
    { heartbeat: late.heartbeat },
  )
  const client = await connectRaw(t, gateway.port)
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => client.text.includes('200 OK'))
  for (let i = 0; i < 3; i++) await late.isNoticed(() => sendPiece())
})

test('each rejected connection shows that the worker is alive', async (t) => {
  const late = lateHeartbeat()
  const gateway = await startGateway(
    t,
    { routes: [], listener: { limits: { connections: 1 } } },
    { heartbeat: late.heartbeat },
  )
  await connectRaw(t, gateway.port)
  await until(() => gateway.plane.connections === 1)
  for (let i = 0; i < 3; i++) await late.isNoticed(() => void connectRaw(t, gateway.port))
})
