import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exchange } from '@sluice/core'
import { Metrics } from '../telemetry/metrics.js'
import { label } from '../telemetry/text-format.js'
import { metricsView } from './metrics-view.js'

function record(metrics: Metrics, route: string, status: number, ms: number): void {
  const x = new Exchange()
  x.status = status
  metrics.route(route).record(x, ms)
}

test('counts by route add up to the total, with latencies per bucket', () => {
  const metrics = new Metrics()
  record(metrics, 'a', 200, 0.5)
  record(metrics, 'a', 503, 3)
  record(metrics, 'b', 200, 60_000)
  metrics.route('a').countError('GW_X')
  const view = metricsView(metrics.samples(), new Date(0))
  assert.equal(view.at, '1970-01-01T00:00:00.000Z')
  assert.deepEqual(view.total.requests, { '2xx': 2, '5xx': 1 })
  assert.equal(view.boundsSeconds.length + 1, view.total.buckets.length)
  assert.deepEqual([view.total.buckets[0], view.total.buckets[2], view.total.buckets.at(-1)], [1, 1, 1])
  assert.deepEqual(
    view.routes.map(({ id, requests }) => [id, requests]),
    [
      ['a', { '2xx': 1, '5xx': 1 }],
      ['b', { '2xx': 1 }],
    ],
  )
  assert.deepEqual(view.errors, { GW_X: 1 })
})

test('measured policies are shown with their route', () => {
  const labels = `${label('route', 'a')},${label('policy', 'a/1')}`
  const name = 'gw_policy_duration_seconds'
  const view = metricsView(
    [
      { name: `${name}_bucket`, labels: `${labels},le="+Inf"`, value: 4 },
      { name: `${name}_sum`, labels, value: 0.25 },
      { name: `${name}_count`, labels, value: 4 },
    ],
    new Date(),
  )
  assert.deepEqual(view.routes[0]?.policies, { 'a/1': { count: 4, seconds: 0.25 } })
})

test('certificates are shown with their time left, also with quotes in their names', () => {
  const labels = label('file', 'a"b\\.pem')
  const view = metricsView(
    [
      { name: 'gw_certificate_broken', labels, value: 0 },
      { name: 'gw_certificate_expires_seconds', labels, value: 5 },
      { name: 'gw_certificate_broken', labels: label('file', 'c.pem'), value: 1 },
    ],
    new Date(),
  )
  assert.deepEqual(view.certificates, [
    { file: 'a"b\\.pem', expiresSeconds: 5 },
    { file: 'c.pem', expiresSeconds: null },
  ])
})
