import { visibleText } from '@sluice/core/visible-text'

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

  constructor(message: string, exit: ExitCode = EXIT.failed) {
    super(message)
    this.name = 'Failure'
    this.exit = exit
  }
}

/** Returns the failure for wrong usage. */
export function usageError(message: string): Failure {
  return new Failure(message, EXIT.usage)
}

const FILE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
}

/** Returns the failure for a file that cannot be read. @param what for example `the token file` */
export function unreadable(what: string, file: string, error: unknown): Failure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return new Failure(`cannot read ${what} ${visibleText(file)}: ${FILE_REASONS[code] ?? messageOf(error)}`)
}

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
