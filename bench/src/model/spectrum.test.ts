import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleSpectrum } from '../testing/samples.js'
import { emptyHistogram, mergeSpectra, record, spectrumOf } from './spectrum.js'
import type { Spectrum } from './summary.js'

const ALWAYS = [50, 75, 90, 95, 99, 99.9, 99.99]

test('a spectrum reports percentiles, mean and maximum with three digits, ascending, none above the maximum', () => {
  const spectrum = spectrumOfValues(Array.from({ length: 10_000 }, (_, i) => i + 1))
  assert.equal(spectrum.count, 10_000)
  near(spectrum.meanMicros, 5000)
  near(spectrum.maxMicros, 10_000)
  assert.equal(percentile(spectrum, 0), 1)
  near(percentile(spectrum, 50), 5000)
  near(percentile(spectrum, 98), 9800)
  near(percentile(spectrum, 99.9), 9990)
  const micros = spectrum.percentiles.map((point) => point.micros)
  assert.deepEqual(
    micros,
    micros.toSorted((a, b) => a - b),
  )
  assert.ok(micros.at(-1)! <= spectrum.maxMicros)
  for (const wanted of ALWAYS) assert.ok(percentile(spectrum, wanted) > 0)
})

test('nothing recorded is no spectrum, and what lies beyond the bounds counts at them', () => {
  assert.equal(spectrumOf(emptyHistogram(), false), null)
  const spectrum = spectrumOfValues([0, 0.2, 3_600_000_000])
  near(spectrum.maxMicros, 60_000_000)
  assert.equal(percentile(spectrum, 50), 1)
})

test('spectra with histograms are merged exactly: the percentiles of all values together', () => {
  const slow = Array.from({ length: 100 }, (_, i) => 100_000 + i * 100)
  const fast = Array.from({ length: 9900 }, (_, i) => 100 + i)
  const merged = mergeSpectra([spectrumOfValues(slow), spectrumOfValues(fast)])
  assert.deepEqual(merged, spectrumOfValues([...slow, ...fast]))
  assert.notEqual(merged.hdr, null)
})

test('without all histograms the counts stay exact and a percentile is the largest of the parts', () => {
  const fast = { ...spectrumOfValues([100, 200, 300]), hdr: null }
  const slow = spectrumOfValues([1000, 2000, 3000])
  const merged = mergeSpectra([fast, slow])
  const exact = spectrumOfValues([100, 200, 300, 1000, 2000, 3000])
  assert.equal(merged.count, 6)
  assert.equal(merged.hdr, null)
  assert.equal(merged.maxMicros, exact.maxMicros)
  near(merged.meanMicros, exact.meanMicros)
  assert.equal(merged.stdevMicros, slow.stdevMicros)
  assert.equal(mergeSpectra([fast, { ...sampleSpectrum(5) }]).stdevMicros, undefined)
  for (const wanted of ALWAYS) assert.equal(percentile(merged, wanted), percentile(slow, wanted))
})

test('a merged spectrum has the percentiles that all parts have, and is corrected when all are', () => {
  const short = { ...spectrumOfValues([5]), hdr: null, isCorrected: true }
  const parts = [
    short,
    { ...short, percentiles: short.percentiles.filter((point) => point.percentile >= 50) },
  ]
  assert.equal(mergeSpectra(parts).percentiles[0]!.percentile, 50)
  assert.equal(mergeSpectra(parts).isCorrected, true)
  assert.equal(mergeSpectra([short, spectrumOfValues([5])]).isCorrected, false)
  assert.throws(() => mergeSpectra([]), /no spectrum/)
})

function spectrumOfValues(values: readonly number[]): Spectrum {
  const histogram = emptyHistogram()
  for (const value of values) record(histogram, value)
  return spectrumOf(histogram, false)!
}

function percentile(spectrum: Spectrum, wanted: number): number {
  return spectrum.percentiles.find((point) => point.percentile === wanted)!.micros
}

function near(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) <= expected * 0.002, `${actual} is not near ${expected}`)
}
