import { EXIT, type ExitCode, Failure, messageOf, usageError } from '@sluice/cli/kit'
import { parseDuration, parseSize } from '@sluice/core'

/** Parses a size option in bytes. @throws Failure with its name */
export function sizeSetting(flag: string, text: string): number {
  return setting(flag, () => parseSize(text))
}

/** Parses a duration option in milliseconds. @throws Failure with its name */
export function durationSetting(flag: string, text: string): number {
  return setting(flag, () => parseDuration(text))
}

/** Returns a failure for problems that the user can fix. Language errors are bugs and are returned unchanged. */
export function mendable(error: unknown, exit: ExitCode = EXIT.failed): unknown {
  if (!(error instanceof Error) || error instanceof Failure || error.name !== 'Error') return error
  return new Failure(error.message, exit)
}

function setting(flag: string, read: () => number): number {
  try {
    return read()
  } catch (error) {
    throw usageError(`${flag}: ${messageOf(error)}`)
  }
}
