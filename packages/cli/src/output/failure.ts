import { messageOf, reasonOf } from '@sluice/core/system-error'
import { visibleText } from '@sluice/core/visible-text'

export { messageOf, reasonOf }

/** Exit codes of `gw`. */
export const EXIT = {
  ok: 0,
  failed: 1,
  differences: 2,
  invalid: 3,
  unauthorised: 4,
  unreachable: 5,
  rolledBack: 6,
  assertion: 7,
  usage: 64,
} as const

/** An exit code of `gw`. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Error that ends a command with a message on stderr and an exit code. */
export class Failure extends Error {
  readonly exit: ExitCode
  /** More members of `error` in JSON and YAML output. */
  readonly details: object

  constructor(message: string, exit: ExitCode = EXIT.failed, details: object = {}) {
    super(message)
    this.name = 'Failure'
    this.exit = exit
    this.details = details
  }
}

/** Returns the failure for wrong usage. */
export function usageError(message: string): Failure {
  return new Failure(message, EXIT.usage)
}

/** Returns the failure for a file that cannot be read. @param what for example `the token file` */
export function unreadable(what: string, file: string, error: unknown): Failure {
  return new Failure(`cannot read ${what} ${visibleText(file)}: ${reasonOf(error)}`)
}
