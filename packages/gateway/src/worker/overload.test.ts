import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAKE_POLICIES, fakeCatalog } from '../testing/fake-policy.js'
import { startGateway, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { statusesOf } from '../testing/raw-client.js'
import { connectRaw } from '../testing/raw-connection.js'

const CLIENTS = 100
/** CPU time of the policy per request in milliseconds. */
const POLICY_MS = 5
const REQUEST = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'

for (const engine of ['uws', 'node'] as const) {
  test(`${engine}: an overloaded worker answers all waiting requests, and runs no policy for refused ones`, async (t) => {
    const origin = await httpOrigin(t, (_, res) => res.end('ok'))
    let runs = 0
    const catalog = fakeCatalog({
      onRequest: () => {
        runs++
        burn(POLICY_MS)
        return null
      },
    })
    const gateway = await startGateway(
      t,
      {
        listener: { engine },
        upstreams: [{ urls: [origin.url] }],
        routes: [{ id: 'all', policies: FAKE_POLICIES }],
        maxLoopDelayMs: 100,
      },
      { catalog },
    )
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connectRaw(t, gateway.port)))
    // The worker serves most at first. Its turns are long, so the next requests wait, and it learns their cost.
    gateway.plane.onLoopCheck()
    let runsBefore = 0
    for (let round = 1; round <= 3; round++) {
      runsBefore = runs
      for (const client of clients) client.send(REQUEST)
      burn(POLICY_MS)
      await until(() => clients.every((client) => statusesOf(client.text).length === round))
      gateway.plane.onLoopCheck()
    }
    const statuses = clients.map((client) => statusesOf(client.text)[2])
    const served = statuses.filter((status) => status === 200).length
    assert.equal(served, runs - runsBefore)
    // About 20 requests fit into 100 ms. While they wait, others are served.
    assert.ok(served > 0 && served < CLIENTS * 0.8, `${served} were served`)
    assert.equal(statuses.filter((status) => status === 503).length, CLIENTS - served)
  })
}

function burn(ms: number): void {
  const before = process.cpuUsage()
  for (let used = 0; used < ms * 1000; ) {
    const { user, system } = process.cpuUsage(before)
    used = user + system
  }
}
