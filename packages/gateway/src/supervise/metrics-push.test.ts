import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Collector, collector, noCollector, type Point, valuesOf } from '../testing/otel-collector.js'
import { traceReceiver } from '../testing/trace-receiver.js'
import { fakeDocument, GatewayProcess } from './testing/gateway-process.js'
import { until } from './testing/until.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

function exporting(endpoint: string, interval: string): string {
  return fakeDocument('first', `metrics: { otlp: { endpoint: '${endpoint}', interval: ${interval} } }`)
}

/** Returns the newest points of a metric. */
function newest(receiver: Collector, name: string): readonly Point[] {
  const metric = receiver.metrics().findLast((one) => one.name === name)
  return (metric?.gauge ?? metric?.sum ?? metric?.histogram)?.dataPoints ?? []
}

test('a collector receives the metrics that /metrics shows, at last when the gateway stops', {
  skip: noCollector,
}, async (t) => {
  const receiver = await collector(t)
  const document = exporting(receiver.url, '1s')
  const gateway = await new GatewayProcess(t, { document, kind: 'busy' }).started()
  const { url } = gateway.addresses.listeners[0]!
  const headers = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }
  for (let i = 0; i < 5; i++) await (await fetch(`${url}/first`, { headers })).arrayBuffer()
  const ofRoute = (name: string) =>
    newest(receiver, name).find(({ attributes }) => valuesOf(attributes)['route'] === 'first')
  const requests = () => ofRoute('gw_requests_total')
  await until(() => requests()?.asDouble === 5)
  assert.deepEqual(valuesOf(requests()!.attributes), { route: 'first', method: 'GET', status: '2xx' })
  const metric = receiver.metrics().findLast(({ name }) => name === 'gw_requests_total')
  assert.deepEqual([metric?.sum?.isMonotonic, metric?.sum?.aggregationTemporality], [true, 2])
  assert.match(metric!.description!, /^Requests answered/)
  assert.ok(BigInt(requests()!.startTimeUnixNano!) < BigInt(requests()!.timeUnixNano))

  const durations = ofRoute('gw_request_duration_seconds')!
  assert.equal(durations.count, '5')
  assert.equal(durations.bucketCounts?.length, durations.explicitBounds!.length + 1)
  assert.equal(durations.explicitBounds![0], 0.001)
  assert.equal(
    durations.bucketCounts!.reduce((sum, count) => sum + Number(count), 0),
    5,
  )
  assert.equal(durations.exemplars![0]!.traceId, TRACE)
  assert.equal(receiver.metrics().find(({ name }) => name === 'gw_request_duration_seconds')!.unit, 's')
  assert.deepEqual(newest(receiver, 'gw_ready')[0]!.asDouble, 1)
  const resource = valuesOf(receiver.resources()[0]!.attributes)
  assert.equal(resource['service.name'], 'sluice')
  assert.equal(resource['service.instance.id'], resource['host.name'])

  // Every metric at /metrics is exported.
  const text = await (await gateway.api('/metrics')).text()
  const names = new Set(receiver.metrics().map(({ name }) => name))
  for (const [, name = ''] of text.matchAll(/^# TYPE (\S+)/gm)) assert.ok(names.has(name), name)

  await (await fetch(`${url}/first`)).arrayBuffer()
  gateway.signal('SIGTERM')
  assert.equal((await gateway.exited).code, 0)
  await until(() => requests()?.asDouble === 6)
})

test('failures of the export are reported once, and it goes on until a deploy turns it off', async (t) => {
  const receiver = await traceReceiver(t)
  receiver.status = 503
  const gateway = await new GatewayProcess(t, { document: exporting(receiver.url, '1s') }).started()
  await until(() => receiver.exports.length >= 2)
  receiver.status = 200
  const entries = (event: string) => gateway.log(event)
  await until(() => entries('metrics.export-works').length === 1)
  assert.equal(entries('metrics.export-failed').length, 1)
  assert.equal(entries('metrics.export-failed')[0]!['reason'], 'the collector responded with 503')
  const text = await (await gateway.api('/metrics')).text()
  assert.match(text, /^gw_metrics_exports_total{result="failed"} [1-9]/m)
  assert.match(text, /^gw_metrics_exports_total{result="delivered"} [1-9]/m)
  assert.equal((await gateway.put(fakeDocument('first'))).status, 200)
  const off = await (await gateway.api('/metrics')).text()
  assert.doesNotMatch(off, /gw_metrics_exports_total/)
})
