import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyHistogram, record, spectrumOf } from '../engine/spectrum.js'
import { csvRows } from '../testing/csv-rows.js'
import { samplePoint, sampleSummary } from '../testing/sample-summary.js'
import { jmeterCsv } from './jmeter-csv.js'
import { summaryFlaw } from './summary-shape.js'

test('jmeter.csv holds results only, in milliseconds', () => {
  const points = [samplePoint(), samplePoint({ invalid: ['busy'] })]
  const [head, ...rows] = csvRows(jmeterCsv(sampleSummary(points)))
  assert.equal(rows.length, 1)
  assert.deepEqual(head!.slice(5, 10), [
    'Label',
    '# Samples',
    'Error Count',
    'Error %',
    'Throughput (Requests/sec)',
  ])
  assert.equal(rows[0]![head!.indexOf('Average Response Time (ms)')], '4.95')
  assert.equal(rows[0]![head!.indexOf('Concurrent Users')], '100')
})

test('jmeter.csv has kilobytes a second and the delay of the origin where they are known, and else nothing', () => {
  const known = samplePoint({ receivedPerSecond: 2_048_000, sentPerSecond: 1536, originDelayMs: 10 })
  const points = [known, samplePoint({ receivedPerSecond: 1024 }), samplePoint()]
  const summary = sampleSummary(points)
  assert.equal(summaryFlaw(summary), null)
  const [head, ...rows] = csvRows(jmeterCsv(summary))
  const names = ['Received (KB/sec)', 'Sent (KB/sec)', 'Back-end Service Delay (ms)', 'Heap Size']
  assert.deepEqual(
    rows.map((row) => names.map((name) => row[head!.indexOf(name)])),
    [
      ['2000', '1.5', '10', ''],
      ['1', '', '', ''],
      ['', '', '', ''],
    ],
  )
})

test('jmeter.csv has the smallest time and every percentile where all values are known', () => {
  const histogram = emptyHistogram()
  record(histogram, 5000, 100)
  const point = samplePoint({ latency: spectrumOf(histogram, false) })
  const [head, row] = csvRows(jmeterCsv(sampleSummary([point])))
  const times = row!.filter((_, i) => /(Minimum|Maximum|Percentile of) Response Time/.test(head![i]!))
  assert.deepEqual(times, Array(8).fill('5'))
})
