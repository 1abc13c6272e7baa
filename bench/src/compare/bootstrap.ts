import { type Estimate, mean, quantile } from '../statistics.js'

const RESAMPLES = 4000
/** Any seed does; a fixed one gives the same verdict for the same two runs. */
const SEED = 0x5_1ce

/**
 * How far the mean moved between two sets of repetitions, as a share. The range comes from sets drawn from them with replacement
 * (Efron 1979). Null: a side has fewer than two repetitions, which say nothing about their spread.
 */
export function changeOfMeans(before: readonly number[], after: readonly number[]): Estimate | null {
  if (before.length < 2 || after.length < 2) return null
  const random = randomNumbers(SEED)
  const changes = Array.from(
    { length: RESAMPLES },
    () => meanOfDrawn(after, random) / meanOfDrawn(before, random) - 1,
  )
  return {
    value: mean(after) / mean(before) - 1,
    low: quantile(changes, 0.025),
    high: quantile(changes, 0.975),
  }
}

function meanOfDrawn(values: readonly number[], random: () => number): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[Math.floor(random() * values.length)]!
  return sum / values.length
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
