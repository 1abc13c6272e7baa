/** For the command that delivers dead letters again; apart, so that nobody else loads the outputs. */

export type { LogOutputOptions } from './outputs/open-output.js'
export {
  deadLetters,
  type LetterCounts,
  type ReplayOptions,
  type ReplayOutcome,
  replayDeadLetters,
} from './replay/replay-dead-letters.js'
