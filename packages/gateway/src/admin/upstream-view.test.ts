import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UpstreamPlan } from '@sluice/config'
import { fakePlan } from '../supervise/testing/fake-plan.js'
import { upstreamViews } from './upstream-view.js'

function upstream(name: string, urls: readonly string[]): UpstreamPlan {
  return {
    name,
    targets: urls.map((url) => ({ url, weight: 1, role: 'primary', priority: 1, srv: null })),
    balance: 'round-robin',
    hashOn: null,
    sticky: null,
    failoverBelow: 0,
    canary: null,
    mirror: null,
    connections: 1,
    maxPending: 1,
    pendingTimeoutMs: 250,
    responseBufferBytes: 1_048_576,
    keepAliveMs: 1,
    timeouts: { connectMs: 1, headersMs: 1, idleMs: 1, totalMs: 1 },
    retry: { attempts: 0, budget: 0, on: [], backoffMs: 0, maxBackoffMs: 0 },
    breaker: null,
    outlier: null,
    health: null,
    panicMode: false,
    tls: null,
    transport: 'auto',
    http2: { alpn: false, priorKnowledge: false },
    proxy: null,
    resolve: null,
    maxHeaderBytes: 1,
  }
}

test('an upstream shows the share of its canary, and how many workers have aborted it', () => {
  const canary = { percent: 0.05, key: { kind: 'header', name: 'x-user' } as const, match: [], abort: null }
  const plan = fakePlan({ upstreams: [{ ...upstream('orders', ['http://a:1']), canary }] })
  const aborted = { name: 'gw_upstream_canary_aborted', labels: 'upstream="orders"', value: 2 }
  const [view] = upstreamViews(plan, { samples: [aborted], targetsOf: () => [] })
  assert.deepEqual(view?.canary, { percent: 0.05, key: 'header:x-user', abortedWorkers: 2 })
})

test('upstreams and targets show the metrics labelled with their names', () => {
  const plan = fakePlan({ upstreams: [upstream('orders', ['http://a:1', 'http://a:12'])] })
  const samples = [
    { name: 'gw_upstream_requests_total', labels: 'upstream="orders",target="http://a:1"', value: 3 },
    { name: 'gw_upstream_requests_total', labels: 'upstream="orders",target="http://a:12"', value: 4 },
    { name: 'gw_upstream_requests_total', labels: 'upstream="orders2",target="http://a:1"', value: 100 },
    { name: 'gw_upstream_seconds_bucket', labels: 'upstream="orders",le="1"', value: 100 },
    { name: 'gw_upstream_pending', labels: 'upstream="orders"', value: 2 },
  ]
  const [view] = upstreamViews(plan, { samples, targetsOf: () => [] })
  assert.deepEqual(view?.numbers, { gw_upstream_requests_total: 7, gw_upstream_pending: 2 })
  assert.deepEqual(
    view?.targets.map((target) => target.numbers['gw_upstream_requests_total']),
    [3, 4],
  )
})
