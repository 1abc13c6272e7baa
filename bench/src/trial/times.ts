/** How long the parts of a trial take. */
export interface TrialTimes {
  readonly warmUpSeconds: number
  readonly beforeSeconds: number
  readonly duringSeconds: number
  readonly afterSeconds: number
}

/** Of a long load, the time before and behind it that it is compared with. */
const MOST_ASIDE_SECONDS = 60

/** A third each of the length of a trial; of a long one, most of it is what lasts. */
export function timesOf(warmUpSeconds: number, seconds: number): TrialTimes {
  const aside = Math.min(MOST_ASIDE_SECONDS, seconds / 3)
  return {
    warmUpSeconds,
    beforeSeconds: aside,
    duringSeconds: seconds - 2 * aside,
    afterSeconds: aside,
  }
}

/** How long saturation is looked for before. */
export function saturationSeconds(seconds: number): number {
  return Math.min(10, Math.max(1, seconds / 4))
}
