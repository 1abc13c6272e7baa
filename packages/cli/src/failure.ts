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

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Ends a command with a message on stderr and an exit code. */
export class Failure extends Error {
  readonly exit: ExitCode

  constructor(exit: ExitCode, message: string) {
    super(message)
    this.exit = exit
  }
}
