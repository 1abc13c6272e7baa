import type { Step } from '@sluice/core'

/** One way of authenticating at a backend: what it puts into each attempt. */
export interface Scheme extends Pick<Step, 'onRequest' | 'onRejected'> {
  readonly onAttempt: NonNullable<Step['onAttempt']>
  /** The body of the request has to be there. */
  readonly needsBody: boolean
  /** It writes `authorization`. */
  readonly setsAuthorization: boolean
  /** Where the client's credential stands that is not for the upstream, beside `authorization`; absent: nowhere. */
  readonly clientField?: string
}
