import type { ErrorCode } from './errors.js'

/**
 * A policy that failed by itself, with a code of its own: the request is not let through, unless the document says
 * `onError: continue`.
 */
export class PolicyFailure extends Error {
  readonly code: ErrorCode
  /** What the client gets to read. */
  readonly detail: string

  /** @param message is for the operator only. */
  constructor(code: ErrorCode, detail: string, message: string) {
    super(message)
    this.name = 'PolicyFailure'
    this.code = code
    this.detail = detail
  }
}

/** A check without a verdict. Its message is refused even with `onError: continue`: a sender could provoke the failure. */
export class CheckFailure extends PolicyFailure {}
