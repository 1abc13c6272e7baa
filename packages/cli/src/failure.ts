/** What the exit code of `gw` means. */
export const EXIT = {
  ok: 0,
  failed: 1,
  differences: 2,
  invalid: 3,
  unauthorised: 4,
  unreachable: 5,
  rolledBack: 6,
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

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
