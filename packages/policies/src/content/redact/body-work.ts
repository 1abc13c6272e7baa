import type { OffloadedWork } from '@sluice/core'
import type { Side } from '../../shared/message/side.js'
import { type BodyInput, type Reading, readingWork } from '../../shared/text/body-reading.js'
import { type BodyOutcome, redactedBody } from './body.js'
import { compileRules } from './rule.js'
import type { RedactConfig } from './schema.js'

/** Configuration of the redaction thread. */
export interface BodyWorkConfig {
  readonly config: RedactConfig
  readonly side: Side
}

/** Redacts large bodies on a thread. */
export const work: OffloadedWork<BodyWorkConfig, BodyInput, Reading<BodyOutcome>> = ({ config, side }) => {
  const rules = compileRules(config, side)
  return readingWork((input, json) => redactedBody(input, rules, json))
}
