import type { ErrorCode } from './errors.js'

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
