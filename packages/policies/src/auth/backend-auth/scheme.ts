import type { Step } from '@sluice/core'

/** An authentication scheme, which adds credentials to each attempt. */
export interface Scheme extends Pick<Step, 'onRequest' | 'onRejected'> {
  readonly onAttempt: NonNullable<Step['onAttempt']>
  /** True if the request body must be buffered. */
  readonly needsBody: boolean
  /** True if the scheme writes `authorization`. */
  readonly setsAuthorization: boolean
  /** Additional header with client credentials that must not reach the upstream, if any. */
  readonly clientField?: string
}
