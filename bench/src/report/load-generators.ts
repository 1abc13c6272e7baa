import type { Point, Summary } from '../model/summary.js'

/** `wrk`, or `wrk at saturation, oha at rates`. */
export function enginesText({ engine, saturationEngine }: Summary): string {
  return saturationEngine === undefined ? engine : `${saturationEngine} at saturation, ${engine} at rates`
}

/** Where the percentiles of a run come from, which depends on what its load generators tell; empty without any. */
export function percentilesText({ engine, points }: Summary): string {
  const named = points.filter(({ latency }) => latency !== null)
  const nameOf = (point: Point): string => point.engine ?? engine
  const names = (isOne: (point: Point) => boolean): string =>
    [...new Set(named.filter(isOne).map(nameOf))].sort().join(' and ')
  const exact = names(({ latency }) => latency?.hdr !== null)
  const largest = names(({ latency, perSecond }) => latency?.hdr === null && perSecond.values.length > 1)
  const single = names(({ latency, perSecond }) => latency?.hdr === null && perSecond.values.length < 2)
  return [
    exact === '' ? '' : `Percentiles of ${exact} come from merged histograms.`,
    largest === ''
      ? ''
      : `Of ${largest}, without a histogram, a percentile of several repetitions is the largest of theirs: the true one is not above it.`,
    single === '' || single === largest ? '' : `Those of ${single} with one repetition are as it told them.`,
    named.length === 0 ? '' : 'None is an average of percentiles.',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}
