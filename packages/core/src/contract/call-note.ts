/** What a call of a policy came to, for the traffic log. */
export interface CallNote {
  /** As the document names it. */
  readonly name: string
  /** When it began, ms after the request came. */
  readonly atMs: number
  /** How long the request waited for it, ms. */
  readonly ms: number
  /** Of the answer; 0: there was none. */
  readonly status: number
  /** `ok`, `unexpected`, `queued` or `dropped` (nobody waits for it), or the kind of its failure. */
  readonly result: string
  /** `call`, `joined` (that of another request), `cache`, `shared` (of another worker), or `stale` where the call failed. */
  readonly from: 'call' | 'joined' | 'cache' | 'shared' | 'stale'
}

/** No more calls of an exchange are logged. */
export const MAX_CALL_NOTES = 32
