import type { Grant, LimitRule } from '../contract/state.js'

/**
 * State of a limit. `gcra`: `at` is the time at which all tokens are available again, in milliseconds since
 * the epoch ("theoretical arrival time", ITU-T I.371). `fixed` and `sliding`: `at` is the start of the
 * window, `used` the tokens taken in it, `before` the tokens taken in the previous window.
 */
export interface LimitState {
  at: number
  used: number
  before: number
}

/**
 * Tolerance in milliseconds. Times since the epoch have a resolution of 0.0003 ms, so a token that lacks less
 * than this is complete.
 */
const ROUNDING_MS = 0.001
/** Tolerance for fractions of a window. */
const ROUNDING = 1e-6

/** Takes tokens from a limit and updates its state. @param nowMs Milliseconds since the epoch. */
export function takeTokens(state: LimitState, rule: LimitRule, amount: number, nowMs: number): Grant {
  return rule.algorithm === 'gcra'
    ? takeFromBucket(state, rule, amount, nowMs)
    : takeFromWindow(state, rule, amount, nowMs)
}

/** Returns tokens to a limit. */
export function giveTokensBack(state: LimitState, rule: LimitRule, amount: number, nowMs: number): void {
  if (rule.algorithm === 'gcra') state.at -= (amount * rule.periodMs) / rule.limit
  else {
    enterWindow(state, rule, nowMs)
    state.used = Math.max(0, state.used - amount)
  }
}

/** Returns the time from which the state equals that of an unused limit, in milliseconds since the epoch. */
export function forgettableAt(state: LimitState, { algorithm, periodMs }: LimitRule): number {
  if (algorithm === 'gcra') return state.at
  return state.at + (algorithm === 'sliding' ? 2 * periodMs : periodMs)
}

function takeFromBucket(state: LimitState, rule: LimitRule, amount: number, nowMs: number): Grant {
  const tokenMs = rule.periodMs / rule.limit
  const depthMs = rule.burst * tokenMs
  // If the clock was set back or the rule became stricter, the limit must not stay closed longer than its
  // maximum.
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

/** Switches to the current window. The previous window counts only for sliding windows. */
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

/**
 * Returns the milliseconds until one token is available. For sliding windows, the weight of the previous
 * window must decrease, or this window must become the previous one.
 */
function untilOneMore({ used, before }: LimitState, rule: LimitRule, elapsedMs: number): number {
  const { algorithm, limit, periodMs } = rule
  const restMs = periodMs - elapsedMs
  if (algorithm === 'fixed') return restMs
  if (used <= limit - 1) return Math.max(0, periodMs * (1 - (limit - 1 - used) / before) - elapsedMs)
  return restMs + periodMs * (1 - (limit - 1) / used)
}
