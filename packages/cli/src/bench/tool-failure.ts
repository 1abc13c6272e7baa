import { EXIT, type ExitCode, Failure } from '../failure.js'

/**
 * What a tool throws for something that the user can mend, as the end of the command. Errors of the language are
 * mistakes of ours and go on as they are.
 */
export function toolFailure(error: unknown, exit: ExitCode = EXIT.failed): unknown {
  if (!(error instanceof Error) || error instanceof Failure || error.name !== 'Error') return error
  return new Failure(exit, error.message)
}
