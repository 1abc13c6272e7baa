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
