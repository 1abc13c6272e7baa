/** For the command that delivers dead letters again; apart, so that nobody else loads the targets. */

export type { TargetOptions } from './outputs/open-target.js'
export {
  deadLetters,
  type LetterCounts,
  type ReplayOptions,
  type ReplayOutcome,
  replayDeadLetters,
} from './replay/replay-dead-letters.js'
