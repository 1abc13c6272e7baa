/** Building blocks for commands that other packages add to `gw`. */

export { secretInFile } from './input/secret.js'
export { ENDING_SIGNALS, untilSignal } from './input/until-signal.js'
export {
  EXIT,
  type ExitCode,
  Failure,
  messageOf,
  reasonOf,
  unreadable,
  usageError,
} from './output/failure.js'
export { outliveReader, print, printTable, printValue, say } from './output/output.js'
export { Progress } from './output/progress.js'
export { ageText, countText } from './output/text.js'
