/** A straight line through values over time. */
export interface Slope {
  readonly perSecond: number
  /** Its standard error. */
  readonly error: number
}

/** A value at a time. */
export interface Sample {
  readonly seconds: number
  readonly value: number
}

/** By least squares; null where there are fewer than three samples. */
export function slopeOf(samples: readonly Sample[]): Slope | null {
  const count = samples.length
  if (count < 3) return null
  const meanSeconds = sumOf(samples, ({ seconds }) => seconds) / count
  const meanValue = sumOf(samples, ({ value }) => value) / count
  const squares = sumOf(samples, ({ seconds }) => (seconds - meanSeconds) ** 2)
  const products = sumOf(samples, ({ seconds, value }) => (seconds - meanSeconds) * (value - meanValue))
  const perSecond = products / squares
  const rest = sumOf(
    samples,
    ({ seconds, value }) => (value - meanValue - perSecond * (seconds - meanSeconds)) ** 2,
  )
  return { perSecond, error: Math.sqrt(rest / (count - 2) / squares) }
}

function sumOf(samples: readonly Sample[], of: (sample: Sample) => number): number {
  return samples.reduce((sum, sample) => sum + of(sample), 0)
}
