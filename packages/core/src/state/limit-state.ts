import type { Grant, LimitRule } from '../contract/state.js'

/**
 * What is known of a limit, three numbers. `gcra`: `at` is when all tokens will be there again ("theoretical arrival time",
 * ITU-T I.371), ms since 1970. `fixed`, `sliding`: `at` is when the window began, `used` what was taken in it, `before`
 * what was taken in the one before.
 */
export interface LimitState {
  at: number
  used: number
  before: number
}

/** Times since 1970 have no finer fractions than 0.0003 ms: a token that lacks less than this is whole. */
const ROUNDING_MS = 0.001
/** The same for shares of a window. */
const ROUNDING = 1e-6

/** Takes tokens from a limit and changes its state. @param nowMs since 1970. */
export function takeTokens(state: LimitState, rule: LimitRule, amount: number, nowMs: number): Grant {
  return rule.algorithm === 'gcra'
    ? takeFromBucket(state, rule, amount, nowMs)
    : takeFromWindow(state, rule, amount, nowMs)
}

/** Gives tokens back. */
export function giveTokensBack(state: LimitState, rule: LimitRule, amount: number, nowMs: number): void {
  if (rule.algorithm === 'gcra') state.at -= (amount * rule.periodMs) / rule.limit
  else {
    enterWindow(state, rule, nowMs)
    state.used = Math.max(0, state.used - amount)
  }
}

/** When the state says no more than that of an unused limit, ms since 1970. */
export function forgettableAt(state: LimitState, { algorithm, periodMs }: LimitRule): number {
  if (algorithm === 'gcra') return state.at
  return state.at + (algorithm === 'sliding' ? 2 * periodMs : periodMs)
}

function takeFromBucket(state: LimitState, rule: LimitRule, amount: number, nowMs: number): Grant {
  const tokenMs = rule.periodMs / rule.limit
  const depthMs = rule.burst * tokenMs
  // A clock that was set back, or a rule that allows less now, must not close the limit for longer than it can last.
  const at = Math.min(Math.max(state.at, nowMs), nowMs + depthMs)
  const there = Math.min(rule.burst, Math.floor((depthMs - (at - nowMs) + ROUNDING_MS) / tokenMs))
  const granted = Math.max(0, Math.min(amount, there))
  state.at = at + granted * tokenMs
  const missingMs = state.at - nowMs - depthMs + tokenMs
  const retryAfterMs = granted < amount ? Math.max(0, missingMs) : 0
  return { granted, remaining: there - granted, retryAfterMs, resetMs: state.at - nowMs }
}

function takeFromWindow(state: LimitState, rule: LimitRule, amount: number, nowMs: number): Grant {
  enterWindow(state, rule, nowMs)
  const { limit, periodMs } = rule
  const elapsedMs = nowMs - state.at
  const counted = state.used + state.before * (1 - elapsedMs / periodMs)
  const there = Math.max(0, Math.floor(limit - counted + ROUNDING))
  const granted = Math.max(0, Math.min(amount, there))
  state.used += granted
  const resetMs = periodMs - elapsedMs
  const retryAfterMs = granted < amount ? untilOneMore(state, rule, elapsedMs) : 0
  return { granted, remaining: there - granted, retryAfterMs, resetMs }
}

/** Goes on to the window of now; the one before counts only where windows slide. */
function enterWindow(
  state: LimitState,
  { algorithm, periodMs, anchorMs = 0 }: LimitRule,
  nowMs: number,
): void {
  const begin = anchorMs + Math.floor((nowMs - anchorMs) / periodMs) * periodMs
  if (state.at === begin) return
  state.before = algorithm === 'sliding' && state.at === begin - periodMs ? state.used : 0
  state.used = 0
  state.at = begin
}

/** Ms until the share of the window before, or that of this one in the next, has become small enough for a token. */
function untilOneMore({ used, before }: LimitState, rule: LimitRule, elapsedMs: number): number {
  const { algorithm, limit, periodMs } = rule
  const restMs = periodMs - elapsedMs
  if (algorithm === 'fixed') return restMs
  if (used <= limit - 1) return Math.max(0, periodMs * (1 - (limit - 1 - used) / before) - elapsedMs)
  return restMs + periodMs * (1 - (limit - 1) / used)
}
