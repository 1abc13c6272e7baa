import { Effort } from './effort.js'
import { type QuickPattern, quickPattern } from './quick-pattern.js'

/** What became of a pattern, and what that took. */
export interface KnownPattern {
  /** The pattern itself or what is written for it; or what is wrong with it. */
  readonly found: QuickPattern | Error
  /** The work that it takes, also where it was known. */
  readonly steps: number
}

/** Patterns that are remembered: documents of the gateway are loaded again and again, each time with the same. */
const MAX_PATTERNS = 1000
/** Longest that is remembered, in characters: with what is written for them all take up to 10 MB. */
const MAX_LENGTH = 1000

const known = new Map<string, KnownPattern>()

/** As `quickPattern`, once for each pattern as long as it is remembered; the oldest is forgotten first. */
export function knownPattern(pattern: string): KnownPattern {
  const before = known.get(pattern)
  if (before !== undefined) return before
  const outcome = outcomeOf(pattern)
  if (pattern.length > MAX_LENGTH) return outcome
  for (const oldest of known.keys()) {
    if (known.size < MAX_PATTERNS) break
    known.delete(oldest)
  }
  known.set(pattern, outcome)
  return outcome
}

function outcomeOf(pattern: string): KnownPattern {
  const effort = new Effort()
  try {
    return { found: quickPattern(pattern, effort), steps: effort.steps }
  } catch (problem) {
    return { found: problem as Error, steps: effort.steps }
  }
}
