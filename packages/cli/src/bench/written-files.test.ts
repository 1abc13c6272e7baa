import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writtenFiles } from './written-files.js'

const latencies = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `a/latency/point-${i}.hgrm`)

test('files are named, and counted where a folder has many of a kind', () => {
  const forms = ['a/summary.json', 'a/points.csv', 'a/report.md']
  assert.equal(
    writtenFiles([...forms, ...latencies(2)]),
    'a/summary.json, a/points.csv, a/report.md, a/latency/point-0.hgrm, a/latency/point-1.hgrm',
  )
  assert.equal(
    writtenFiles([...forms, ...latencies(102)]),
    'a/summary.json, a/points.csv, a/report.md, a/latency (102 .hgrm files)',
  )
  assert.equal(writtenFiles([]), '')
})
