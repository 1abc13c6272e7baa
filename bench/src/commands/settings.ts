import { EXIT, type ExitCode, Failure, messageOf } from '@sluice/cli/kit'
import { parseDuration, parseSize } from '@sluice/core'

/** Bytes of an option. @throws Failure that names it. */
export function sizeSetting(flag: string, text: string): number {
  return setting(flag, () => parseSize(text))
}

/** Milliseconds of an option. @throws Failure that names it. */
export function durationSetting(flag: string, text: string): number {
  return setting(flag, () => parseDuration(text))
}

export function usage(text: string): Failure {
  return new Failure(EXIT.usage, text)
}

/**
 * What is thrown for something that the user can mend, as the end of the command. Errors of the language are mistakes of
 * ours and go on as they are.
 */
export function mendable(error: unknown, exit: ExitCode = EXIT.failed): unknown {
  if (!(error instanceof Error) || error instanceof Failure || error.name !== 'Error') return error
  return new Failure(exit, error.message)
}

function setting(flag: string, read: () => number): number {
  try {
    return read()
  } catch (error) {
    throw usage(`${flag}: ${messageOf(error)}`)
  }
}
