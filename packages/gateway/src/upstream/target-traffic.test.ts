import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'node:test'
import type { UpstreamPlan } from '@sluice/config'
import { startGateway } from '../testing/gateway.js'
import { closedPort, httpOrigin } from '../testing/origin.js'
import { EjectionPool } from './state/ejection.js'
import type { Target } from './target.js'
import { TargetTraffic } from './target-traffic.js'
import { Upstream } from './upstream.js'
import { upstreamSamples } from './upstream-samples.js'

type Samples = readonly { readonly name: string; readonly labels: string; readonly value: number }[]

function valuesOf(samples: Samples): ReadonlyMap<string, number> {
  return new Map(samples.map(({ name, labels, value }) => [`${name}{${labels}}`, value]))
}

const WAIT_MS = 30

function answer(req: IncomingMessage, res: ServerResponse): void {
  if (req.url === '/late') return
  res.statusCode = req.url === '/broken' ? 500 : 200
  req.on('end', () => setTimeout(() => res.end('12345'), WAIT_MS)).resume()
}

test('responses, durations and bytes are counted by target', async (t) => {
  const { url } = await httpOrigin(t, answer)
  const gateway = await startGateway(t, { upstreams: [{ urls: [url] }] })
  const send = async (path: string, init = {}): Promise<void> => {
    await (await fetch(gateway.url + path, init)).arrayBuffer()
  }
  await send('/')
  await send('/broken')
  await send('/', { method: 'POST', body: '123' })
  const values = valuesOf(gateway.plane.samples())
  const labels = `upstream="up",target="${url}"`
  assert.equal(values.get(`gw_upstream_responses_total{${labels},status="2xx"}`), 2)
  assert.equal(values.get(`gw_upstream_responses_total{${labels},status="5xx"}`), 1)
  assert.equal(values.get(`gw_upstream_duration_seconds_count{${labels}}`), 3)
  // Timers can fire a millisecond early.
  assert.ok(values.get(`gw_upstream_duration_seconds_sum{${labels}}`)! >= (3 * (WAIT_MS - 1)) / 1000)
  assert.equal(values.get(`gw_upstream_request_bytes_total{${labels}}`), 3)
  assert.equal(values.get(`gw_upstream_response_bytes_total{${labels}}`), 15)
})

test('failed attempts are counted by target and code, timeouts included', async (t) => {
  const { url } = await httpOrigin(t, answer)
  const dead = `http://127.0.0.1:${await closedPort()}`
  const timeouts = { connectMs: 1000, headersMs: 50, idleMs: 1000, totalMs: 0 }
  const gateway = await startGateway(t, {
    upstreams: [{ urls: [dead, url], retry: { attempts: 1, budget: 1 }, timeouts }],
  })
  await (await fetch(`${gateway.url}/late`)).arrayBuffer()
  const values = valuesOf(gateway.plane.samples())
  const labels = (target: string, code: string): string =>
    `gw_upstream_errors_total{upstream="up",target="${target}",code="${code}"}`
  assert.equal(values.get(labels(dead, 'GW_UPSTREAM_REFUSED')), 1)
  assert.equal(values.get(labels(url, 'GW_UPSTREAM_TIMEOUT')), 1)
})

/** Returns a target with the parts that samples read. */
function target(i: number): Target {
  const state = { breaker: null, ejection: null }
  const transport = { waits: 0 }
  const fixed = { address: null, weight: 1, role: 'primary', level: 0, isAvailable: true, capacity: 1 }
  const counts = { active: 0, attempts: 0, failures: 0, turn: 0 }
  return { origin: `t${i}`, state, transport, ...fixed, ...counts, traffic: new TargetTraffic() } as never
}

test('targets beyond the bound share the counters of target other, and keep them', () => {
  const plan = { name: 'up', balance: 'round-robin', retry: { budget: 1, attempts: 0, on: [] } }
  const empty = { canary: null, mirror: null, sticky: null, resolve: null, health: null, hashOn: null }
  const targets = Array.from({ length: 205 }, (_, i) => target(i))
  const upstream = new Upstream({ ...plan, ...empty } as unknown as UpstreamPlan, targets, {
    report: () => {},
    pool: new EjectionPool(0),
  })
  for (const { traffic } of targets) traffic.record(200, 1)
  const count = (name: string): number | undefined =>
    valuesOf(upstreamSamples(upstream)).get(
      `gw_upstream_responses_total{upstream="up",target="${name}",status="2xx"}`,
    )
  assert.equal(count('t199'), 1)
  assert.equal(count('t200'), undefined)
  assert.equal(count('other'), 5)
  const added = target(205)
  upstream.setTargets([...targets.slice(1), added])
  added.traffic.record(200, 1)
  assert.equal(count('other'), 5)
  assert.equal(count('t205'), 1)
})
