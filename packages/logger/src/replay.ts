/**
 * Entry point for the command that redelivers dead letters. Separate from index.ts, so that other code does
 * not load the outputs.
 */

export type { LogOutputOptions } from './outputs/open-output.js'
export {
  deadLetters,
  type LetterCounts,
  type ReplayOptions,
  type ReplayOutcome,
  replayDeadLetters,
} from './replay/replay-dead-letters.js'
