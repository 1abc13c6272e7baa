import { type OffloadedWork, UnreadableBody } from '@sluice/core'
import { type JsonView, jsonOfBytes } from '../json/view.js'
import type { Side } from '../message/side.js'
import { BodyFilter, type BodyFindings, type BodyInput } from './body.js'
import { Finders } from './finder.js'
import { DEFAULT_PASSES } from './limits.js'
import { compileRules } from './rules.js'
import type { ContentFilterConfig } from './schema.js'

/** What a thread is told, and what it answers; errors do not keep their class on the way. */
export interface BodyWorkConfig {
  readonly config: ContentFilterConfig
  readonly side: Side
}

export type BodyAnswer = BodyFindings | { readonly unreadable: string }

/** Looks at large bodies on a thread. */
export const work: OffloadedWork<BodyWorkConfig, BodyInput, BodyAnswer> = ({ config, side }) => {
  const rules = compileRules(config, side)
  const filter = new BodyFilter(rules, new Finders(rules, config.decodePasses ?? DEFAULT_PASSES))
  return (input) => answerOf(filter, input, () => jsonOfBytes(input.body))
}

/** Looks at a body, here or on a thread. */
export function answerOf(filter: BodyFilter, input: BodyInput, json: () => JsonView): BodyAnswer {
  try {
    return filter.look(input, json)
  } catch (error) {
    if (error instanceof UnreadableBody) return { unreadable: error.message }
    throw error
  }
}
