import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consumerOf, Exchange } from '@sluice/core'
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

test('routes beyond the bound share one set of counters', () => {
  const metrics = new Metrics()
  const first = metrics.route('r0')
  for (let i = 1; i < 20_000; i++) metrics.route(`r${i}`)
  const other = metrics.route('one too many')
  assert.equal(metrics.route('another'), other)
  assert.equal(metrics.route('r0'), first)
})

function failed(code: string): Exchange {
  return Object.assign(exchange('GET', 500), { errorCode: code })
}

test('errors are counted by route and code', () => {
  const metrics = new Metrics()
  for (const route of ['a', 'a', 'b']) metrics.route(route).record(failed('GW_INTERNAL'), 1)
  metrics.countUnrouted('GW_OVERLOADED')
  const counts = [...valuesOf(metrics.samples())].filter(([name]) => name.startsWith('gw_errors_total'))
  assert.deepEqual(counts, [
    ['gw_errors_total{route="a",code="GW_INTERNAL"}', 2],
    ['gw_errors_total{route="b",code="GW_INTERNAL"}', 1],
    ['gw_errors_total{route="-",code="GW_OVERLOADED"}', 1],
  ])
})

test('100,000 values of each label end in series named other, and no count is lost', () => {
  const metrics = new Metrics()
  for (let i = 0; i < 100_000; i++) {
    const x = Object.assign(failed(`CODE_${i}`), { errorPolicy: 'p' })
    x.record.tracePolicies(false)
    const run = x.record.policyTrace!.begin(`policy-${i}`, 0)
    run.end(0, 1, 'pass')
    metrics.route(`route-${i}`).record(x, 1)
    metrics.counter('gw_outbound_calls_total', { origin: `http://host-${i}` }).value++
  }
  const values = valuesOf(metrics.samples())
  for (const [name, most] of [
    ['gw_requests_total', 20_001],
    ['gw_errors_total', 10_001],
    ['gw_policy_errors_total', 10_001],
    ['gw_policy_duration_seconds_count', 5001],
    ['gw_outbound_calls_total', 20_001],
  ] as const) {
    const series = [...values].filter(([key]) => key.startsWith(`${name}{`))
    assert.equal(series.length, most, name)
    assert.equal(
      series.reduce((sum, [, value]) => sum + value, 0),
      100_000,
      name,
    )
  }
  assert.equal(values.get('gw_errors_total{route="other",code="other"}'), 90_000)
  assert.equal(values.get('gw_policy_duration_seconds_count{route="other",policy="other"}'), 95_000)
})

function traced(flags: string, endedMono: number): Exchange {
  const traceparent = `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-${flags}`
  return Object.assign(exchange('GET', 200), { headers: ['traceparent', traceparent], endedMono })
}

test('a bucket shows a request of a sampled trace, and another one after five seconds', () => {
  const metrics = new RouteMetrics()
  const shown = (): (number | undefined)[] =>
    metrics
      .samples('r')
      .flatMap(({ exemplar }) => (exemplar === undefined ? [] : [Math.round(exemplar.value * 10_000) / 10]))
  metrics.record(exchange('GET', 200), 4)
  metrics.record(traced('00', 100), 4)
  assert.deepEqual(shown(), [])
  metrics.record(traced('01', 200), 4.1)
  metrics.record(traced('01', 300), 4.2)
  metrics.record(traced('01', 300), 70)
  assert.deepEqual(shown(), [4.1, 70])
  metrics.record(traced('01', 5200), 4.3)
  assert.deepEqual(shown(), [4.3, 70])
})

test('with tracing, a bucket shows exported traces', () => {
  for (const isKept of [true, false]) {
    const metrics = new RouteMetrics()
    metrics.record(Object.assign(traced('01', 0), { trace: { traceId: 'of-the-gateway', isKept } }), 1)
    const shown = metrics.samples('r').flatMap(({ exemplar }) => exemplar?.traceId ?? [])
    assert.deepEqual(shown, isKept ? ['of-the-gateway'] : [])
  }
})

test('a value that is no trace of W3C Trace Context is not shown', () => {
  for (const value of [
    '',
    '00-x',
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  ]) {
    const metrics = new RouteMetrics()
    metrics.record(Object.assign(exchange('GET', 200), { headers: ['traceparent', value] }), 1)
    assert.ok(metrics.samples('r').every(({ exemplar }) => exemplar === undefined))
  }
})

test('errors of policies are counted by route, policy and code', () => {
  const metrics = new Metrics()
  const refused = Object.assign(failed('GW_AUTH_REQUIRED'), { errorPolicy: 'keys' })
  for (const x of [refused, refused, failed('GW_INTERNAL')]) metrics.route('a').record(x, 1)
  const counts = [...valuesOf(metrics.samples())].filter(([name]) => name.startsWith('gw_policy_errors'))
  assert.deepEqual(counts, [['gw_policy_errors_total{route="a",policy="keys",code="GW_AUTH_REQUIRED"}', 2]])
})

test('the counters of a worker are the sums over its routes', () => {
  const metrics = new Metrics()
  metrics.route('a').record(exchange('GET', 200), 3)
  metrics.route('a').record(failed('GW_INTERNAL'), 3)
  metrics.route('b').record(exchange('POST', 201), 70)
  metrics.route('b').record(failed('GW_INTERNAL'), 3)
  const values = valuesOf(metrics.workerSamples('worker="1"'))
  assert.equal(values.get('gw_worker_requests_total{worker="1",status="2xx"}'), 2)
  assert.equal(values.get('gw_worker_requests_total{worker="1",status="5xx"}'), 2)
  assert.equal(values.get('gw_worker_errors_total{worker="1",code="GW_INTERNAL"}'), 2)
  assert.equal(values.get('gw_worker_request_duration_seconds_bucket{worker="1",le="0.005"}'), 3)
  assert.equal(values.get('gw_worker_request_duration_seconds_bucket{worker="1",le="0.1"}'), 4)
  assert.equal(values.get('gw_worker_request_duration_seconds_sum{worker="1"}'), 0.079)
  assert.equal(values.get('gw_worker_request_bytes_total{worker="1"}'), 40)
  assert.equal(values.get('gw_worker_response_bytes_total{worker="1"}'), 400)
})

function called(x: Exchange, groups: readonly string[]): Exchange {
  return Object.assign(x, { consumer: consumerOf('api-key', 'acme', { groups }) })
}

test('requests of consumers are counted by their first group', () => {
  const { consumers } = new Metrics()
  consumers.record(called(exchange('GET', 200), ['gold', 'staff']), 3)
  consumers.record(called(failed('GW_RATE_LIMITED'), ['gold']), 3)
  consumers.record(called(exchange('GET', 404), []), 3)
  consumers.record(exchange('GET', 200), 3)
  const values = valuesOf(consumers.samples())
  assert.equal(values.get('gw_consumer_requests_total{group="gold",status="2xx"}'), 1)
  assert.equal(values.get('gw_consumer_requests_total{group="gold",status="5xx"}'), 1)
  assert.equal(values.get('gw_consumer_requests_total{group="-",status="4xx"}'), 1)
  assert.equal(values.get('gw_consumer_errors_total{group="gold",code="GW_RATE_LIMITED"}'), 1)
  assert.equal(values.get('gw_consumer_request_duration_seconds_count{group="gold"}'), 2)
  assert.equal(values.get('gw_consumer_request_bytes_total{group="gold"}'), 20)
  assert.equal(values.get('gw_consumer_response_bytes_total{group="gold"}'), 200)
  assert.ok([...values.keys()].every((key) => /group="(?:gold|-)"/.test(key)))
})

test('groups beyond the bound are counted as other, and no request is lost', () => {
  const { consumers } = new Metrics()
  for (let i = 0; i < 5000; i++) consumers.record(called(failed(`CODE_${i}`), [`"${i}"`]), 3)
  const values = valuesOf(consumers.samples())
  const requests = [...values].filter(([key]) => key.startsWith('gw_consumer_requests_total{'))
  assert.equal(requests.length, 101)
  assert.equal(values.get('gw_consumer_requests_total{group="other",status="5xx"}'), 4900)
  assert.equal(values.get('gw_consumer_requests_total{group="\\"7\\"",status="5xx"}'), 1)
  assert.equal(values.get('gw_consumer_errors_total{group="other",code="other"}'), 3000)
})
