import type { ErrorCode } from './errors.js'

/** A body that is not what a policy or a condition has to read: the client's fault, or for a response the upstream's. */
export class UnreadableBody extends Error {
  readonly code: ErrorCode
  /** True if readers could take the body for two things: it is refused, whatever route it may be for. */
  readonly isAmbiguous: boolean

  /** @param message says what is wrong, without what the body says. */
  constructor(code: ErrorCode, message: string, isAmbiguous = false) {
    super(message)
    this.code = code
    this.isAmbiguous = isAmbiguous
  }
}
