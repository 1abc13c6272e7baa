import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { emptyHistogram, record, spectrumOf } from '../engine/spectrum.js'
import { samplePoint, sampleSpectrum, sampleSummary } from '../testing/sample-summary.js'
import { writeResults } from './write-results.js'

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'bench-report-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** A spectrum with its histogram: one latency that many requests had. */
function spectrumAt(micros: number) {
  const histogram = emptyHistogram()
  record(histogram, micros, 99)
  record(histogram, micros * 10)
  return spectrumOf(histogram, false)
}

test('every point that has its histogram has its percentile distribution as a file, in milliseconds', (t) => {
  const knee = { kind: 'fixed-rate', targetPerSecond: 15_025, sloMicros: 50_000 } as const
  const points = [
    samplePoint({ latency: spectrumAt(5000) }),
    samplePoint({ latency: spectrumAt(700), ...knee }),
    samplePoint({ contestant: 'nginx' }),
  ]
  const dir = folder(t)
  const files = writeResults(sampleSummary(points), dir).slice(6)
  assert.deepEqual(
    files.map((path) => relative(dir, path)),
    ['latency/w1-get-100-sluice-saturation.hgrm', 'latency/w1-get-100-sluice-rate-15025-slo-50000us.hgrm'],
  )
  const [head, , ...lines] = readFileSync(files[0]!, 'utf8').trimEnd().split('\n')
  assert.match(head!, /^ +Value +Percentile +TotalCount +1\/\(1-Percentile\)$/)
  const steps = lines
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.trim().split(/ +/).map(Number))
  assert.deepEqual(steps[0], [5.003, 0, 99, 1])
  assert.deepEqual([steps.at(-1)![1], steps.at(-1)![2]], [1, 100])
  assert.ok(Math.abs(steps.at(-1)![0]! - 50) < 0.05)
  assert.match(lines.at(-2)!, /^#\[Max +=.*Total count += +100\]$/)
})

test('no name in a summary leads out of the folder, and no two points share a file', (t) => {
  const hostile = samplePoint({ scenario: '../../etc/x', contestant: '..', latency: spectrumAt(1000) })
  const long = samplePoint({ scenario: 'x'.repeat(500), latency: spectrumAt(1000) })
  const dir = folder(t)
  const files = writeResults(sampleSummary([hostile, hostile, long]), dir).slice(6)
  assert.deepEqual(
    readdirSync(join(dir, 'latency')).toSorted(),
    files.map((path) => basename(path)).toSorted(),
  )
  assert.equal(new Set(files).size, 3)
  assert.ok(files.every((path) => /^latency\/[\w-]+\.hgrm$/.test(relative(dir, path))))
})

test('a histogram that is none is told by its point, when all else is written', (t) => {
  const dir = folder(t)
  const latency = { ...sampleSpectrum(10), hdr: 'bm9uZQ==' }
  assert.throws(
    () => writeResults(sampleSummary([samplePoint({ latency })]), dir),
    /^Error: w1-get-100-sluice-saturation\.hgrm: the histogram in summary\.json cannot be read \(/,
  )
  assert.ok(existsSync(join(dir, 'report.html')))
})
