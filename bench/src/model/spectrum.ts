import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from 'hdr-histogram-js'
import type { Spectrum } from './summary.js'

/** Percentiles of a spectrum with all values. 0 is the minimum. */
const PERCENTILES = [0, 1, 5, 10, 25, 50, 75, 90, 95, 97.5, 98, 99, 99.5, 99.9, 99.95, 99.99, 99.999] as const

/** Maximum latency in microseconds (one minute). Longer ones count as this. */
const HIGHEST_MICROS = 60_000_000
const DIGITS = 3

/** Returns a histogram of latencies from 1 µs to 60 s with three digits. */
export function emptyHistogram(): Histogram {
  return build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_MICROS,
    numberOfSignificantValueDigits: DIGITS,
    bitBucketSize: 64,
    autoResize: false,
    useWebAssembly: false,
  })
}

/** Records a latency, within the bounds of the histogram. */
export function record(histogram: Histogram, micros: number, count = 1): void {
  histogram.recordValueWithCount(Math.min(HIGHEST_MICROS, Math.max(1, Math.round(micros))), count)
}

/** Returns the spectrum of a histogram, or null if it is empty. The maximum may be known more exactly. */
export function spectrumOf(
  histogram: Histogram,
  isCorrected: boolean,
  maxMicros = histogram.maxValue,
): Spectrum | null {
  if (histogram.totalCount === 0) return null
  return {
    isCorrected,
    count: histogram.totalCount,
    meanMicros: histogram.mean,
    stdevMicros: histogram.stdDeviation,
    maxMicros,
    percentiles: PERCENTILES.map((percentile) => ({
      percentile,
      // The histogram returns the upper end of a step, which may exceed the maximum.
      micros: Math.min(maxMicros, histogram.getValueAtPercentile(percentile)),
    })),
    hdr: encodeIntoCompressedBase64(histogram),
  }
}

/**
 * Merges spectra of the same measurement. With histograms the result is exact. Otherwise each percentile, and the
 * deviation, is the largest of its values: the true percentile is never higher, so the result errs on the slow side.
 * @throws Error without spectra.
 */
export function mergeSpectra(list: readonly Spectrum[]): Spectrum {
  if (list.length === 0) throw new Error('there is no spectrum to merge')
  const isCorrected = list.every((spectrum) => spectrum.isCorrected)
  const maxMicros = Math.max(...list.map((spectrum) => spectrum.maxMicros))
  const histograms = list.flatMap(({ hdr }) =>
    hdr === null ? [] : [decodeFromCompressedBase64(hdr, 64, false)],
  )
  if (histograms.length < list.length) return upperBound(list, isCorrected, maxMicros)
  const all = emptyHistogram()
  for (const histogram of histograms) all.add(histogram)
  return spectrumOf(all, isCorrected, maxMicros) ?? upperBound(list, isCorrected, maxMicros)
}

function upperBound(list: readonly Spectrum[], isCorrected: boolean, maxMicros: number): Spectrum {
  const count = list.reduce((sum, spectrum) => sum + spectrum.count, 0)
  const total = list.reduce((sum, spectrum) => sum + spectrum.meanMicros * spectrum.count, 0)
  const percentiles = list[0]!.percentiles.flatMap(({ percentile }) => {
    const ofEach = list.map((spectrum) => percentileOf(spectrum, percentile))
    return ofEach.some((micros) => micros === null)
      ? []
      : [{ percentile, micros: Math.max(...(ofEach as number[])) }]
  })
  const meanMicros = total / Math.max(1, count)
  const deviations = list.flatMap(({ stdevMicros }) => stdevMicros ?? [])
  const deviation = deviations.length < list.length ? {} : { stdevMicros: Math.max(...deviations) }
  return { isCorrected, count, meanMicros, ...deviation, maxMicros, percentiles, hdr: null }
}

/** Returns the latency at a percentile in microseconds, or null if it is unknown. */
export function percentileOf(latency: Spectrum | null, percentile: number): number | null {
  return latency?.percentiles.find((step) => step.percentile === percentile)?.micros ?? null
}
