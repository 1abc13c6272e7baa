import { needsOf, type Requirement, selected } from './part.js'
import { PatternReader } from './pattern-reader.js'

/** The requirement of a pattern of RE2; what is not understood of it demands nothing. */
export function requirementOf(pattern: string): Requirement {
  const part = new PatternReader(pattern).read()
  return part === null ? [] : selected(needsOf(part))
}
