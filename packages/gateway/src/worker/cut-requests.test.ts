import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { connectRaw } from '../testing/raw-connection.js'
import { startLogged } from '../testing/traffic-records.js'

for (const way of ['at the deadline', 'at once'] as const) {
  test(`requests cut by a drain ${way} are recorded as shed, not as client aborts`, async (t) => {
    const responses: ServerResponse[] = []
    const origin = await httpOrigin(t, (req, res) => {
      responses.push(res)
      if (req.url === '/begun') res.write('a')
    })
    const gateway = await startLogged(t, { upstreams: [{ urls: [origin.url] }] })
    const waiting = await connectRaw(t, gateway.port)
    waiting.send('GET /waiting HTTP/1.1\r\nHost: a\r\n\r\n')
    const begun = await connectRaw(t, gateway.port)
    begun.send('GET /begun HTTP/1.1\r\nHost: a\r\n\r\n')
    const left = await connectRaw(t, gateway.port)
    left.send('GET /left HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => responses.length === 3 && begun.text.includes('200 OK'))
    left.reset()
    await until(() => gateway.plane.inFlight === 2)

    const drained = gateway.plane.drain(way === 'at once' ? 600_000 : 20)
    if (way === 'at once') gateway.plane.cut()
    assert.equal(await drained, 2)
    const records = await gateway.records()
    const reported = records.map(({ url, res, result, error }) => [
      (url as { path: string }).path,
      (res as { status: number }).status,
      result,
      error?.['code'],
    ])
    assert.deepEqual(reported.sort(), [
      ['/begun', 200, 'shed', 'GW_DRAINING'],
      ['/left', 499, 'aborted', undefined],
      ['/waiting', 503, 'shed', 'GW_DRAINING'],
    ])
  })
}
