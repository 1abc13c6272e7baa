import { visibleText } from '@sluice/core/visible-text'

/** What the exit code of `gw` means. */
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

/** One of the exit codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Ends a command with a message on stderr and an exit code. */
export class Failure extends Error {
  readonly exit: ExitCode

  constructor(exit: ExitCode, message: string) {
    super(message)
    this.name = 'Failure'
    this.exit = exit
  }
}

const FILE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'it may not be read by this user',
  EISDIR: 'it is a directory',
}

/** A file that could not be read, `what` such as `the token file`. */
export function unreadable(what: string, file: string, error: unknown): Failure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return new Failure(
    EXIT.failed,
    `cannot read ${what} ${visibleText(file)}: ${FILE_REASONS[code] ?? messageOf(error)}`,
  )
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
