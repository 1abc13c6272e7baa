/** Traffic log entry for a call that a policy made to another server. */
export interface CallNote {
  /** Name from the configuration. */
  readonly name: string
  /** Start of the call, in milliseconds after the request arrived. */
  readonly atMs: number
  /** Time that the request waited for the call, in milliseconds. */
  readonly ms: number
  /** Status of the response, or 0 without a response. */
  readonly status: number
  /**
   * `ok`, `unexpected`, `queued` or `dropped` (the request does not wait for the call), or the kind of
   * failure.
   */
  readonly result: string
  /**
   * Source of the result: `call` (made by this request), `joined` (shared with another request), `cache`,
   * `shared` (cached by another worker), or `stale` (an expired value, because the call failed).
   */
  readonly from: 'call' | 'joined' | 'cache' | 'shared' | 'stale'
}

/** Maximum number of calls logged per exchange. */
export const MAX_CALL_NOTES = 32
