/** What a transformation answers: the new body, or why there is none. It can be cloned. */
export type Transformed = Uint8Array | TransformFailure

export interface TransformFailure {
  /**
   * `unreadable`: the body is not what it has to be. `refused`: it can be read, and is still not accepted.
   * `failed`: it is not the body's fault.
   */
  readonly kind: 'unreadable' | 'refused' | 'failed'
  /** For the client, without what is inside the gateway. */
  readonly detail: string
  /** What the engine says, for the operator's log only. */
  readonly reason?: string
}

/** The body is not what it has to be. */
export function unreadable(detail: string): TransformFailure {
  return { kind: 'unreadable', detail }
}

/** The transformation itself failed. @param reason what the engine says, for the operator's log only. */
export function failed(detail: string, reason?: string): TransformFailure {
  return reason === undefined ? { kind: 'failed', detail } : { kind: 'failed', detail, reason }
}
