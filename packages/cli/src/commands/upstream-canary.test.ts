import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gwInProcess } from '../testing/in-process.js'
import { origin, startGateway, until } from '../testing.js'

const MIN_REQUESTS = 10

test('gw upstream list shows the share of a canary, and that a worker has aborted it', async (t) => {
  const primary = await origin(t, (_, res) => res.end('primary'))
  const canary = await origin(t, (_, res) => res.writeHead(500).end('canary'))
  const gateway = await startGateway(
    t,
    `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 1
upstreams:
  up:
    targets: [{ url: "${primary}" }, { url: "${canary}", role: canary }]
    canary:
      { percent: 12.5%, key: "header:x-user", abort: { errors: 50%, minRequests: ${MIN_REQUESTS}, cooldown: 1h } }
routes: [{ id: all, upstream: up }]
log: { sink: none }
`,
  )
  const list = async (): Promise<string> =>
    (await gwInProcess(['upstream', 'list'], { env: { GW_SERVER: gateway.admin, GW_TOKEN: '' } })).stdout
  assert.match(await list(), / canary, 12\.5% by header:x-user +1 /)
  let user = 0
  await until(async () => {
    await fetch(gateway.url, { headers: { 'x-user': `user ${user++}` } })
    return (await list()).includes('aborted in 1 worker')
  }, gateway.logText)
  assert.ok(user >= 2 * MIN_REQUESTS, `${user} requests`)
  assert.match(gateway.logText(), /canary_aborted/)
})
