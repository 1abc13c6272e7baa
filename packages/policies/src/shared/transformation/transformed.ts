/** Result of a transformation: the new body, or why there is none. It can be cloned for a worker thread. */
export type Transformed = Uint8Array | TransformFailure

/** Reason why a transformation has no result. */
export interface TransformFailure {
  /**
   * `unreadable`: the body does not have the required format. `refused`: it is readable but not accepted. `failed`:
   * the body is not to blame.
   */
  readonly kind: 'unreadable' | 'refused' | 'failed'
  /** Detail for the client, without internals of the gateway. */
  readonly detail: string
  /** Message of the engine, for the operator's log only. */
  readonly reason?: string
}

/** Creates the failure for a body without the required format. */
export function unreadable(detail: string): TransformFailure {
  return { kind: 'unreadable', detail }
}

/**
 * Creates the failure of the transformation itself.
 * @param reason message of the engine, for the operator's log only.
 */
export function failed(detail: string, reason?: string): TransformFailure {
  return reason === undefined ? { kind: 'failed', detail } : { kind: 'failed', detail, reason }
}
