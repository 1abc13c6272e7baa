import type { LimitRule } from '../contract/state.js'
import { parseRate } from '../lib/units.js'
import { zoneOf } from '../lib/zone.js'
import { type CalendarPeriod, calendarPeriod } from './calendar.js'

/** A limit of a policy. */
export interface Limit {
  /** Limit as written in the configuration, such as `100/s` or `10000/month`. */
  readonly text: string
  /** Tokens per period. */
  readonly quota: number
  /** Returns the counting rule at a moment. It changes over time because months differ in length. */
  readonly rule: (nowMs: number) => LimitRule
}

/** Configuration fields of `rate-limit` that define the limits. */
export interface RateConfig {
  readonly limit:
    | string
    | readonly (string | { readonly limit: string; readonly burst?: number | undefined })[]
  readonly algorithm?: LimitRule['algorithm'] | undefined
  readonly burst?: number | undefined
}

/** Configuration fields of `quota` that define the limit. */
export interface QuotaConfig {
  readonly limit: number
  readonly per: CalendarPeriod
  readonly timeZone?: string | undefined
}

/** Maximum limit. Counters up to this value are exact. */
const MAX_LIMIT = 1e12

/**
 * Tolerance for clock differences between gateway and store. Keeping the old rule a little longer is safe,
 * because it counts the next period from the same moment. Switching early is not: a store whose clock is
 * behind would start a separate counter and forget the current one.
 */
const CLOCKS_APART_MS = 5000

/** Returns the limits of a `rate-limit` policy. @throws Error if a limit is invalid. */
export function rateLimits(config: RateConfig): Limit[] {
  const { algorithm = 'gcra' } = config
  const entries = typeof config.limit === 'string' ? [config.limit] : config.limit
  return entries.map((entry) => {
    const { limit, burst = config.burst } = typeof entry === 'string' ? { limit: entry } : entry
    if (burst !== undefined && algorithm !== 'gcra')
      throw new Error(`'burst' has no effect with algorithm: ${algorithm}; remove it`)
    return rateLimit(limit, algorithm, burst)
  })
}

function rateLimit(text: string, algorithm: LimitRule['algorithm'], burst: number | undefined): Limit {
  const { count, seconds } = parseRate(text)
  if (!(count > 0) || count > MAX_LIMIT)
    throw new Error(`'${text}' must be more than 0 and at most ${MAX_LIMIT}`)
  // Stores count whole tokens, so half a token per minute becomes one token per two minutes.
  const scale = count < 1 ? 1 / count : 1
  const limit = Math.floor(count * scale)
  const periodMs = (limit / count) * seconds * 1000
  const rule = { algorithm, limit, periodMs, burst: burst ?? usualBurst(limit, seconds) }
  return { text, quota: limit, rule: () => rule }
}

/**
 * Default burst size. A limit per minute or longer may be used up at once. A limit per second should be even:
 * a tenth of it may come at once, but at least 10 tokens if the limit allows them.
 */
function usualBurst(limit: number, seconds: number): number {
  return seconds > 1 ? limit : Math.min(limit, Math.max(10, Math.ceil(limit / 10)))
}

/** Returns the limit of a `quota` policy. @throws Error if the time zone is unknown. */
export function quotaLimit({ limit, per, timeZone = 'UTC' }: QuotaConfig): Limit {
  const zone = zoneOf(timeZone)
  let current: LimitRule = { algorithm: 'fixed', limit, burst: limit, periodMs: 1, anchorMs: 0 }
  let endMs = 0
  return {
    text: `${limit}/${per}`,
    quota: limit,
    rule(nowMs) {
      if (nowMs >= endMs + CLOCKS_APART_MS || nowMs < current.anchorMs!) {
        const period = calendarPeriod(nowMs, per, zone)
        endMs = period.endMs
        const { beginMs } = period
        current = { ...current, periodMs: endMs - beginMs, anchorMs: beginMs }
      }
      return current
    },
  }
}
