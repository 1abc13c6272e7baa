import { type OffloadedWork, UnreadableBody } from '@sluice/core'
import { type JsonView, jsonOfBytes } from '../json/view.js'
import type { Side } from '../message/side.js'
import { type BodyInput, type BodyOutcome, redactedBody } from './body.js'
import { compileRules, type Rule } from './rule.js'
import type { RedactConfig } from './schema.js'

export interface BodyWorkConfig {
  readonly config: RedactConfig
  readonly side: Side
}

/** What a thread answers; errors do not keep their class on the way. */
export type BodyAnswer = BodyOutcome | { readonly mistake: string }

/** Redacts large bodies on a thread. */
export const work: OffloadedWork<BodyWorkConfig, BodyInput, BodyAnswer> = ({ config, side }) => {
  const rules = compileRules(config, side)
  return (input) => answerOf(input, rules, () => jsonOfBytes(input.body))
}

/** Redacts a body, here or on a thread. */
export function answerOf(input: BodyInput, rules: readonly Rule[], json: () => JsonView): BodyAnswer {
  try {
    return redactedBody(input, rules, json)
  } catch (error) {
    if (error instanceof UnreadableBody) return { mistake: error.message }
    throw error
  }
}
