import type { ErrorCode } from './errors.js'

/** A body that is not what a policy or a condition has to read: the client's fault, or for a response the upstream's. */
export class UnreadableBody extends Error {
  readonly code: ErrorCode

  /** @param message says what is wrong, without what the body says. */
  constructor(code: ErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
