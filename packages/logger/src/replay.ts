/** For the command that delivers dead letters again; apart, so that nobody else loads the targets. */
export {
  deadLetters,
  type LetterCounts,
  type ReplayOptions,
  type ReplayOutcome,
  replayDeadLetters,
} from './replay/replay-dead-letters.js'
export type { TargetOptions } from './target/open-target.js'
