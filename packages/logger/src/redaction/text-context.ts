import type { Findings } from './findings.js'
import type { AreaRules } from './rules.js'

/** What a text is redacted with. */
export interface TextContext {
  readonly rules: AreaRules
  readonly findings: Findings
  /** The text ends where a limit cut it. */
  readonly isCut: boolean
  /** How many texts stand around it: JSON may hold a string that holds JSON. */
  readonly depth: number
  /** What is written in this text, as it is written in the outermost one. */
  wrap(written: string): string
}
