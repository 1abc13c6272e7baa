import { type ElasticsearchOptions, ElasticsearchTarget } from './elasticsearch/target.js'
import type { LogTarget, TellProblem } from './target.js'

/** A target by its kind; plain data, so that it can be handed to a thread. */
export type TargetOptions = { readonly kind: 'elasticsearch' } & ElasticsearchOptions

/** Opens a target; nothing is sent yet. @throws Error when its options cannot be used. */
export function openTarget(options: TargetOptions, tell: TellProblem): LogTarget {
  return new ElasticsearchTarget(options, tell)
}
