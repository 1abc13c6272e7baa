import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from 'hdr-histogram-js'
import type { Spectrum } from '../model/engine.js'

/** The percentiles of every spectrum whose engine gives all values; 0 is the smallest of them. */
const PERCENTILES = [0, 1, 5, 10, 25, 50, 75, 90, 95, 97.5, 98, 99, 99.5, 99.9, 99.95, 99.99, 99.999] as const

/** One minute, in microseconds: what takes longer counts as this long. */
const HIGHEST_MICROS = 60_000_000
const DIGITS = 3

/** A histogram of latencies in microseconds: 1 µs to 60 s with three digits. */
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

/** Counts a latency; the histogram's bounds hold it. */
export function record(histogram: Histogram, micros: number, count = 1): void {
  histogram.recordValueWithCount(Math.min(HIGHEST_MICROS, Math.max(1, Math.round(micros))), count)
}

/** The spectrum of a histogram, whose largest value may be known more exactly; null when nothing was recorded. */
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
      // The histogram answers with the upper end of a step, which may lie above the largest value.
      micros: Math.min(maxMicros, histogram.getValueAtPercentile(percentile)),
    })),
    hdr: encodeIntoCompressedBase64(histogram),
  }
}

/**
 * One spectrum for several measurements of the same thing. Where each has its histogram the answer is exact: the
 * percentiles of all values together. Else counts, mean, deviation and extremes are still exact, but a percentile is the
 * largest of the single ones: values that nobody kept cannot be ranked together, and the true percentile of all is never
 * above the largest of the parts, so that the answer errs to the slow side only.
 * It is corrected when all of them are. @throws Error without spectra.
 */
export function mergeSpectra(list: readonly Spectrum[]): Spectrum {
  if (list.length === 0) throw new Error('there is no spectrum to merge')
  const isCorrected = list.every((spectrum) => spectrum.isCorrected)
  const histograms = list.flatMap(({ hdr }) => (hdr === null ? [] : [histogramOf(hdr)]))
  const bound = boundOf(list, isCorrected)
  if (histograms.length < list.length) return bound
  const all = emptyHistogram()
  for (const histogram of histograms) all.add(histogram)
  return spectrumOf(all, isCorrected, bound.maxMicros) ?? bound
}

/** Steps of a distribution each time that the rest of the values halves, as wrk2 prints them. */
const TICKS = 5

/** The percentile distribution of an encoded histogram, in milliseconds. @throws Error when it is none. */
export function percentileText(hdr: string): string {
  return histogramOf(hdr).outputPercentileDistribution(TICKS, 1000)
}

function histogramOf(hdr: string): Histogram {
  return decodeFromCompressedBase64(hdr, 64, false)
}

function boundOf(list: readonly Spectrum[], isCorrected: boolean): Spectrum {
  const count = list.reduce((sum, spectrum) => sum + spectrum.count, 0)
  const weighted = (value: (spectrum: Spectrum) => number): number =>
    list.reduce((sum, spectrum) => sum + value(spectrum) * spectrum.count, 0) / Math.max(1, count)
  const meanMicros = weighted((spectrum) => spectrum.meanMicros)
  const variance = weighted((spectrum) => spectrum.stdevMicros ** 2 + (spectrum.meanMicros - meanMicros) ** 2)
  return {
    isCorrected,
    count,
    meanMicros,
    stdevMicros: Math.sqrt(variance),
    maxMicros: Math.max(...list.map((spectrum) => spectrum.maxMicros)),
    percentiles: commonPercentiles(list).map((percentile) => {
      const ofEach = list.map((spectrum) => percentileOf(spectrum, percentile)!)
      return { percentile, micros: percentile === 0 ? Math.min(...ofEach) : Math.max(...ofEach) }
    }),
    hdr: null,
  }
}

function commonPercentiles(list: readonly Spectrum[]): number[] {
  return list[0]!.percentiles
    .map(({ percentile }) => percentile)
    .filter((percentile) => list.every((spectrum) => percentileOf(spectrum, percentile) !== undefined))
}

function percentileOf(spectrum: Spectrum, percentile: number): number | undefined {
  return spectrum.percentiles.find((point) => point.percentile === percentile)?.micros
}
