import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label, renderSamples } from './text-format.js'

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
