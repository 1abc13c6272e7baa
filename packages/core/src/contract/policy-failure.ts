import type { ErrorCode } from './errors.js'

/**
 * Error of a policy with a specific error code. The request is refused, unless the configuration says
 * `onError: continue`.
 */
export class PolicyFailure extends Error {
  readonly code: ErrorCode
  /** Error text sent to the client. */
  readonly detail: string

  /** @param message Error text for the operator only. */
  constructor(code: ErrorCode, detail: string, message: string) {
    super(message)
    this.name = 'PolicyFailure'
    this.code = code
    this.detail = detail
  }
}

/**
 * Error for a check that reached no result. The request is refused even with `onError: continue`, because a
 * sender could provoke the failure to bypass the check.
 */
export class CheckFailure extends PolicyFailure {}
