import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptedFormat, label, renderSamples } from './text-format.js'

test('a family is written together under one TYPE line, whatever the order of its samples', () => {
  const text = renderSamples(
    [
      { name: 'gw_requests_total', labels: 'route="a"', value: 3 },
      { name: 'gw_connections', labels: '', value: 2 },
      { name: 'gw_requests_total', labels: 'route="b"', value: 0.5 },
    ],
    { gw_requests_total: 'Requests answered.' },
  )
  assert.equal(
    text,
    [
      '# HELP gw_requests_total Requests answered.',
      '# TYPE gw_requests_total counter',
      'gw_requests_total{route="a"} 3',
      'gw_requests_total{route="b"} 0.5',
      '# TYPE gw_connections gauge',
      'gw_connections 2',
      '',
    ].join('\n'),
  )
})

test('buckets, sum and count make one histogram', () => {
  const text = renderSamples([
    { name: 'gw_wait_seconds_bucket', labels: 'le="0.1"', value: 1 },
    { name: 'gw_wait_seconds_bucket', labels: 'le="+Inf"', value: 2 },
    { name: 'gw_wait_seconds_sum', labels: '', value: 0.25 },
    { name: 'gw_wait_seconds_count', labels: '', value: 2 },
  ])
  assert.equal(text.match(/# TYPE/g)?.length, 1)
  assert.match(text, /^# TYPE gw_wait_seconds histogram\n/)
})

test('numbers that are not finite and labels with quotes are written as the format asks', () => {
  assert.match(
    renderSamples([{ name: 'gw_limit', labels: '', value: Number.POSITIVE_INFINITY }]),
    /gw_limit \+Inf\n/,
  )
  assert.match(renderSamples([{ name: 'gw_limit', labels: '', value: Number.NaN }]), /gw_limit NaN\n/)
  assert.equal(label('path', 'a"b\\c\nd'), 'path="a\\"b\\\\c\\nd"')
})

test('OpenMetrics names counters without their suffix, shows exemplars and has an end', () => {
  const exemplar = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', value: 0.05, atS: 1700000000.5 }
  const samples = [
    { name: 'gw_requests_total', labels: 'route="a"', value: 3 },
    { name: 'gw_wait_seconds_bucket', labels: 'le="0.1"', value: 1, exemplar },
  ]
  assert.equal(
    renderSamples(samples, { gw_requests_total: 'Requests "answered".' }, 'openmetrics'),
    [
      '# HELP gw_requests Requests \\"answered\\".',
      '# TYPE gw_requests counter',
      'gw_requests_total{route="a"} 3',
      '# TYPE gw_wait_seconds histogram',
      'gw_wait_seconds_bucket{le="0.1"} 1 # {trace_id="4bf92f3577b34da6a3ce929d0e0e4736"} 0.05 1700000000.5',
      '# EOF',
      '',
    ].join('\n'),
  )
  assert.doesNotMatch(renderSamples(samples), /trace_id|EOF/)
})

test('OpenMetrics is used by clients that name and prefer it', () => {
  const prometheus =
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2'
  assert.equal(acceptedFormat(prometheus), 'openmetrics')
  assert.equal(acceptedFormat('Application/OpenMetrics-Text'), 'openmetrics')
  for (const accept of [
    '',
    '*/*',
    'text/plain',
    'application/openmetrics-text;q=0',
    'text/plain, application/openmetrics-text;q=0.1',
  ])
    assert.equal(acceptedFormat(accept), 'prometheus')
})
