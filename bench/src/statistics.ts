/** The middle value; the upper one of two. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value below which this share (0 to 1) of the values lies, by the nearest rank. NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** NaN without values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** A value and the range that holds the true one in 95 of 100 measurements. */
export interface Estimate {
  readonly value: number
  readonly low: number
  readonly high: number
}

/** Share of the values that is left out at each end. */
const TRIM = 0.2
const RESAMPLES = 1000

/**
 * The mean of the middle values, which single outliers do not move, with its range by bootstrap: the spread of the same
 * figure over samples drawn from the values (Efron 1979). NaN without values.
 */
export function trimmedMean(values: readonly number[]): Estimate {
  const drawn = (): number[] => values.map(() => values[Math.floor(Math.random() * values.length)]!)
  const means = Array.from({ length: RESAMPLES }, () => meanOfMiddle(drawn()))
  return { value: meanOfMiddle(values), low: quantile(means, 0.025), high: quantile(means, 0.975) }
}

function meanOfMiddle(values: readonly number[]): number {
  const cut = Math.floor(values.length * TRIM)
  return mean(values.toSorted((a, b) => a - b).slice(cut, values.length - cut))
}
