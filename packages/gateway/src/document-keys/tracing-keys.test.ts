import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { refusal } from '@sluice/core'
import { fakeCatalog } from '../testing/fake-policy.js'
import { until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { type TraceReceiver, traceReceiver } from '../testing/trace-receiver.js'
import { serve, testKeys } from './testing/key-tests.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

/** Returns the fields that an upstream receives, for each of the requests. */
async function received(
  t: TestContext,
  tracing: object,
  requests: readonly Record<string, string>[],
): Promise<readonly http.IncomingHttpHeaders[]> {
  const seen: http.IncomingHttpHeaders[] = []
  const origin = await httpOrigin(t, (req, res) => {
    seen.push(req.headers)
    res.end()
  })
  const gateway = await serve(t, { target: origin.url, tracing })
  for (const headers of requests) await fetch(gateway.url, { headers })
  return seen
}

/** Returns the number of sampled requests. */
function sampledOf(seen: readonly http.IncomingHttpHeaders[]): number {
  return seen.filter(({ traceparent }) => String(traceparent).endsWith('-01')).length
}

const ROUTES = [
  { id: 'ok', match: { path: '/ok' }, respond: { status: 200 } },
  { id: 'failed', match: { path: '/failed' }, upstream: 'up' },
  { id: 'last', match: { path: '/last' }, respond: { status: 200 } },
]

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-traces-'))
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return dir
}

/**
 * Sends requests that are not sampled and then one that is, and returns the receiver once it has the last one. Spans are
 * exported in order.
 */
async function exported(t: TestContext, tracing: object): Promise<TraceReceiver> {
  const receiver = await traceReceiver(t)
  const settings = {
    sampling: { ratio: '0%' },
    ...tracing,
    exporter: { endpoint: receiver.url, spool: { dir: folder(t) } },
  }
  const gateway = await serve(t, { target: 'http://127.0.0.1:1', routes: ROUTES, tracing: settings })
  for (const path of ['/ok', '/failed']) await (await fetch(gateway.url + path)).arrayBuffer()
  await fetch(`${gateway.url}/last`, { headers: { traceparent: `00-${TRACE}-${SPAN}-01` } })
  await until(() => receiver.has('GET /last'))
  return receiver
}

const has = ({ has }: TraceReceiver): readonly boolean[] => [has('GET /ok'), has('GET /failed')]

testKeys(
  'tracing',
  {
    propagation: async (t) => {
      const b3 = { b3: `${TRACE}-${SPAN}-1` }
      const [usual] = await received(t, {}, [b3])
      assert.equal(usual!['b3'], b3.b3)
      assert.ok(!String(usual!['traceparent']).includes(TRACE))
      const [other] = await received(t, { propagation: ['b3'] }, [b3])
      assert.match(String(other!['b3']), new RegExp(`^${TRACE}-(?!${SPAN})`))
      assert.equal(other!['traceparent'], undefined)
    },
    'sampling.ratio': async (t) => {
      const requests = Array.from({ length: 200 }, () => ({}))
      assert.equal(sampledOf(await received(t, {}, requests)), 200)
      assert.equal(sampledOf(await received(t, { sampling: { ratio: '0%' } }, requests)), 0)
      // Both are missed once in 10^60 runs.
      const some = sampledOf(await received(t, { sampling: { ratio: '50%' } }, requests))
      assert.ok(some > 0 && some < 200, String(some))
    },
    'sampling.parentBased': async (t) => {
      const request = { traceparent: `00-${TRACE}-${SPAN}-01` }
      const sampling = { ratio: '0%' }
      assert.equal(sampledOf(await received(t, { sampling }, [request])), 1)
      assert.equal(
        sampledOf(await received(t, { sampling: { ...sampling, parentBased: false } }, [request])),
        0,
      )
    },
    'keep.errors': async (t) => {
      assert.deepEqual(has(await exported(t, {})), [false, true])
      assert.deepEqual(has(await exported(t, { keep: { errors: false } })), [false, false])
    },
    'keep.blocked': async (t) => {
      const catalog = fakeCatalog({ onRequest: () => refusal('GW_IP_DENIED', 'no') })
      const receiver = await traceReceiver(t)
      const keep = { blocked: true }
      const exporter = { endpoint: receiver.url, spool: { dir: folder(t) } }
      const tracing = { sampling: { ratio: '0%' }, keep, exporter }
      const route = { match: { path: '/blocked' }, respond: { status: 200 }, policies: [{ use: 'p' }] }
      const gateway = await serve(t, { routes: [{ id: 'all', ...route }], tracing, catalog })
      await fetch(`${gateway.url}/blocked`)
      await until(() => receiver.has('GET /blocked'))
    },
    'keep.slowerThan': async (t) => {
      const receiver = await traceReceiver(t)
      const origin = await httpOrigin(t, (_, res) => void setTimeout(() => res.end(), 50))
      const exporter = { endpoint: receiver.url, spool: { dir: folder(t) } }
      const tracing = { sampling: { ratio: '0%' }, keep: { slowerThan: '40ms' }, exporter }
      const route = { match: { path: '/slow' } }
      const gateway = await serve(t, { target: origin.url, route, tracing })
      await fetch(`${gateway.url}/slow`)
      await until(() => receiver.has('GET /slow'))
    },
  },
  // Tested in otlp-keys.test.ts.
  ['exporter.'],
)
