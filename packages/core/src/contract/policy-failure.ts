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

/**
 * Error for a body that a policy or condition cannot read. The client is at fault for a request, the upstream
 * for a response.
 */
export class UnreadableBody extends Error {
  readonly code: ErrorCode
  /** True if parsers could interpret the body differently. Such a request is refused on every route. */
  readonly isAmbiguous: boolean

  /** @param message Reason, without content of the body. */
  constructor(code: ErrorCode, message: string, isAmbiguous = false) {
    super(message)
    this.code = code
    this.isAmbiguous = isAmbiguous
  }
}
