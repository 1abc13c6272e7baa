/** Returns the median, the upper one of two. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Returns the quantile for a share from 0 to 1, by nearest rank. NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Returns the mean. NaN without values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

const RESAMPLES = 4000

/** Returns as many items, drawn with replacement. */
export function resampled<T>(items: readonly T[], random: () => number): T[] {
  return items.map(() => items[Math.floor(random() * items.length)]!)
}

/** Returns the mean of as many values, drawn with replacement. */
export function resampledMean(values: readonly number[], random: () => number): number {
  return mean(resampled(values, random))
}

/** Returns the 95 % interval of a resampled statistic. */
export function bootstrapInterval(resample: () => number): readonly [number, number] {
  return interval(bootstrap(resample))
}

/** Returns all resampled statistics of a percentile bootstrap (Efron 1979). */
export function bootstrap<T>(resample: () => T, length = RESAMPLES): T[] {
  return Array.from({ length }, resample)
}

/** Returns the 95 % interval of resampled values. */
export function interval(values: readonly number[]): readonly [number, number] {
  return [quantile(values, 0.025), quantile(values, 0.975)]
}

/** Returns the least-squares line through pairs of x and y, with the standard error of its slope. */
export function lineThrough(pairs: readonly (readonly [x: number, y: number])[]) {
  const [meanX, meanY] = [mean(pairs.map(([x]) => x)), mean(pairs.map(([, y]) => y))]
  const sum = (value: (x: number, y: number) => number): number =>
    pairs.reduce((all, [x, y]) => all + value(x - meanX, y - meanY), 0)
  const squares = sum((x) => x ** 2)
  const slope = sum((x, y) => x * y) / squares
  const error = Math.sqrt(sum((x, y) => (y - slope * x) ** 2) / (pairs.length - 2) / squares)
  return { slope, meanX, meanY, error }
}

/** Returns a generator of numbers from 0 to 1 that is the same for the same seed (mulberry32 over an FNV-1a hash). */
export function seededRandom(seed: string): () => number {
  let state = 0x811c9dc5
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns the items in random order (Fisher and Yates). */
export function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const result = [...list]
  for (let i = result.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1))
    const held = result[i]!
    result[i] = result[other]!
    result[other] = held
  }
  return result
}
