import assert from 'node:assert/strict'
import { test } from 'node:test'
import { familyOf, kindOf, SampleLedger } from './merge.js'
import type { Sample } from './sample.js'

const sample = (name: string, value: number, labels = ''): Sample => ({ name, labels, value })

test('series of the same name and labels are added up over workers, others stay apart', () => {
  const merged = new SampleLedger().merged([
    [sample('gw_requests_total', 3, 'route="a"'), sample('gw_requests_total', 5, 'route="b"')],
    [sample('gw_requests_total', 4, 'route="a"')],
  ])
  assert.deepEqual(merged, [
    sample('gw_requests_total', 7, 'route="a"'),
    sample('gw_requests_total', 5, 'route="b"'),
  ])
})

test('a counter does not go backwards when its worker ends, a gauge ends with it', () => {
  const ledger = new SampleLedger()
  const dying = [
    sample('gw_requests_total', 10),
    sample('gw_connections', 4),
    sample('gw_request_duration_seconds_bucket', 9, 'le="0.1"'),
  ]
  ledger.retire(dying)
  const merged = ledger.merged([[sample('gw_requests_total', 1), sample('gw_connections', 2)]])
  assert.deepEqual(merged, [
    sample('gw_requests_total', 11),
    sample('gw_request_duration_seconds_bucket', 9, 'le="0.1"'),
    sample('gw_connections', 2),
  ])
})

test('merging changes neither the ledger nor the samples handed in', () => {
  const ledger = new SampleLedger()
  ledger.retire([sample('gw_requests_total', 1)])
  const live = [sample('gw_requests_total', 2)]
  assert.deepEqual(ledger.merged([live]), ledger.merged([live]))
  assert.deepEqual(live, [sample('gw_requests_total', 2)])
})

test('series of exited workers beyond the bound are added up as other, by bucket', () => {
  const ledger = new SampleLedger()
  const [name, most] = ['gw_calls_seconds_bucket', 500_000]
  const samples = Array.from({ length: most + 2 }, (_, i) => sample(name, 1, `route="r${i}",le="1"`))
  ledger.retire(samples)
  ledger.retire(samples.slice(0, 1))
  const merged = ledger.merged([])
  assert.equal(merged.length, most + 1)
  assert.deepEqual(merged[0], sample(name, 2, 'route="r0",le="1"'))
  assert.deepEqual(merged.at(-1), sample(name, 2, 'route="other",le="1"'))
})

test('the newest exemplar of all workers is kept', () => {
  const shown = (atS: number): Sample => ({
    ...sample('gw_wait_seconds_bucket', 1),
    exemplar: { traceId: 'a', value: 1, atS },
  })
  for (const order of [
    [shown(1), shown(2)],
    [shown(2), shown(1)],
    [shown(2), sample('gw_wait_seconds_bucket', 1)],
  ]) {
    const [merged] = new SampleLedger().merged(order.map((one) => [one]))
    assert.deepEqual(merged, { ...shown(2), value: 2 })
  }
})

test('the name shows the kind and the family', () => {
  assert.equal(kindOf('gw_requests_total'), 'counter')
  assert.equal(kindOf('gw_request_duration_seconds_sum'), 'histogram')
  assert.equal(kindOf('gw_connections'), 'gauge')
  assert.equal(familyOf('gw_request_duration_seconds_count'), 'gw_request_duration_seconds')
  assert.equal(familyOf('gw_connections'), 'gw_connections')
})
