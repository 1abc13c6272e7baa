import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PlanOverrides, startGateway, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { descriptors, usedBytes } from '../testing/process-state.js'
import { steadyLoad } from '../testing/steady-load.js'

const RELOADS = 200
/** Memory for the outcomes of the load and for compiled code, in bytes. */
const LEFT_OVER_BYTES = 8 * 1024 * 1024

for (const engine of ['uws', 'node'] as const) {
  test(`${engine}: 200 reloads under load fail no request, and leave no descriptors and no memory behind`, async (t) => {
    const origin = await httpOrigin(t, (req, res) => res.end(`ok ${String(req.headers['x-id'])}`))
    // The upstream, its connections and the route differ each time.
    const documentOf = (nth: number): PlanOverrides => ({
      listener: { engine },
      upstreams: [
        { urls: [origin.url], name: `up-${nth % 3}`, connections: 8 + (nth % 2), keepAliveMs: 500 },
      ],
      routes: [{ id: `route-${nth}` }],
    })
    const gateway = await startGateway(t, documentOf(0))
    const load = steadyLoad(gateway.url, 'POST')
    t.after(() => load.stop())
    for (let nth = 1; nth <= 20; nth++) await gateway.reload(documentOf(nth))
    const [files, used, answered] = [descriptors(), usedBytes(), load.outcomes.length]
    for (let nth = 1; nth <= RELOADS; nth++) await gateway.reload(documentOf(nth))
    await until(() => load.outcomes.length > answered + 20)
    await load.stop()
    assert.deepEqual(load.failed(), [])
    await until(() => descriptors() <= files)
    await until(() => usedBytes() < used + LEFT_OVER_BYTES)
  })
}
