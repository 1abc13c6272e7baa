import type { LimitRule } from '../contract/state.js'
import { parseRate } from '../lib/units.js'
import { zoneOf } from '../lib/zone.js'
import { type CalendarPeriod, calendarPeriod } from './calendar.js'

/** One limit of a policy. */
export interface Limit {
  /** As the document writes it: `100/s`, `10000/month`. */
  readonly text: string
  /** Tokens in a period. */
  readonly quota: number
  /** How it is counted at a moment: months have their own lengths. */
  readonly rule: (nowMs: number) => LimitRule
}

/** What of the configuration of `rate-limit` says how much is allowed. */
export interface RateConfig {
  readonly limit?: string | undefined
  readonly limits?:
    | readonly (string | { readonly limit: string; readonly burst?: number | undefined })[]
    | undefined
  readonly algorithm?: LimitRule['algorithm'] | undefined
  readonly burst?: number | undefined
}

/** What of the configuration of `quota` says how much is allowed. */
export interface QuotaConfig {
  readonly limit: number
  readonly per: CalendarPeriod
  readonly timeZone?: string | undefined
}

/** The largest limit: counters stay exact. */
const MAX_LIMIT = 1e12

/**
 * The rule of a period that has just ended counts the next one from the same moment on; that of a period which the clock of
 * the store has not reached would begin a count of its own, and forget the one that is.
 */
const CLOCKS_APART_MS = 5000

/** The limits of a `rate-limit`. @throws Error for what cannot be counted. */
export function rateLimits(config: RateConfig): Limit[] {
  const { algorithm = 'gcra' } = config
  const listed = config.limits ?? []
  const entries = [...(config.limit === undefined ? [] : [config.limit]), ...listed]
  if (entries.length === 0) throw new Error('there is no limit; write for example limit: 100/s')
  return entries.map((entry) => {
    const { limit, burst = config.burst } = typeof entry === 'string' ? { limit: entry } : entry
    if (burst !== undefined && algorithm !== 'gcra') {
      throw new Error(`'burst' says nothing to algorithm: ${algorithm}; remove it`)
    }
    return rateLimit(limit, algorithm, burst)
  })
}

function rateLimit(text: string, algorithm: LimitRule['algorithm'], burst: number | undefined): Limit {
  const { count, seconds } = parseRate(text)
  if (!(count > 0) || count > MAX_LIMIT) throw new Error(`'${text}' allows nothing, or too much to count`)
  // Half a token a minute is one in two minutes: stores count whole ones.
  const scale = count < 1 ? 1 / count : 1
  const limit = Math.floor(count * scale)
  const periodMs = (limit / count) * seconds * 1000
  const rule = { algorithm, limit, periodMs, burst: burst ?? usualBurst(limit, seconds) }
  return { text, quota: limit, rule: () => rule }
}

/**
 * A limit a minute may be used up at once, as people expect; one a second is meant to be even: a tenth of it comes at
 * once, but no less than 10 where the limit is as much.
 */
function usualBurst(limit: number, seconds: number): number {
  return seconds > 1 ? limit : Math.min(limit, Math.max(10, Math.ceil(limit / 10)))
}

/** The limit of a `quota`. @throws Error for a time zone that is not known. */
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
