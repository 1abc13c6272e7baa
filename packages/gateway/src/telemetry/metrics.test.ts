import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exchange } from '@sluice/core'
import fc from 'fast-check'
import { Metrics, RouteMetrics } from './metrics.js'

function exchange(method: string, status: number): Exchange {
  return Object.assign(new Exchange(), { method, status, requestBytes: 10, responseBytes: 100 })
}

function valuesOf(samples: readonly { name: string; labels: string; value: number }[]): Map<string, number> {
  return new Map(samples.map(({ name, labels, value }) => [`${name}{${labels}}`, value]))
}

test('a request is counted by its method and the class of its status', () => {
  const metrics = new RouteMetrics()
  metrics.record(exchange('GET', 200), 1)
  metrics.record(exchange('GET', 204), 1)
  metrics.record(exchange('DELETE', 404), 1)
  metrics.record(exchange('PROPFIND', 999), 1)
  metrics.record(exchange('POST', 0), 1)
  const values = valuesOf(metrics.samples('r'))
  assert.deepEqual(
    [...values].filter(([name]) => name.startsWith('gw_requests_total')),
    [
      ['gw_requests_total{route="r",method="GET",status="2xx"}', 2],
      ['gw_requests_total{route="r",method="POST",status="0xx"}', 1],
      ['gw_requests_total{route="r",method="DELETE",status="4xx"}', 1],
      ['gw_requests_total{route="r",method="other",status="5xx"}', 1],
    ],
  )
  assert.equal(values.get('gw_request_bytes_total{route="r"}'), 50)
  assert.equal(values.get('gw_response_bytes_total{route="r"}'), 500)
})

test('each bucket counts the durations up to its bound', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 60_000, noNaN: true })), (durations) => {
      const metrics = new RouteMetrics()
      for (const duration of durations) metrics.record(exchange('GET', 200), duration)
      for (const { name, labels, value } of metrics.samples('r')) {
        const bound = /le="(.+)"/.exec(labels)?.[1]
        if (name.endsWith('_bucket')) {
          const most = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound) * 1000
          assert.equal(value, durations.filter((duration) => duration <= most).length)
        }
        if (name.endsWith('_count')) assert.equal(value, durations.length)
      }
    }),
  )
})

test('a duration at the bound of a bucket belongs to it', () => {
  for (const bound of ['0.001', '0.0025', '0.01', '0.25', '30']) {
    const metrics = new RouteMetrics()
    metrics.record(exchange('GET', 200), Number(bound) * 1000)
    const values = valuesOf(metrics.samples('r'))
    assert.equal(values.get(`gw_request_duration_seconds_bucket{route="r",le="${bound}"}`), 1)
  }
})

test('routes beyond the bound share one set of counters, and errors are counted by code', () => {
  const metrics = new Metrics()
  const first = metrics.route('r0')
  for (let i = 1; i < 20_000; i++) metrics.route(`r${i}`)
  const other = metrics.route('one too many')
  assert.equal(metrics.route('another'), other)
  assert.equal(metrics.route('r0'), first)
  metrics.countError('GW_INTERNAL')
  metrics.countError('GW_INTERNAL')
  assert.deepEqual(metrics.samples().at(-1), {
    name: 'gw_errors_total',
    labels: 'code="GW_INTERNAL"',
    value: 2,
  })
})
