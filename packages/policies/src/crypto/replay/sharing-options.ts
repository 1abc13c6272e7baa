import { optionalOneOf } from '../../shared/options.js'

export const DEFAULT_SCOPE = 'cluster'
export const DEFAULT_ON_STORE_DOWN = 'closed'

/** Who takes part in "once", and what happens when that cannot be asked. */
export interface SharingConfig {
  readonly scope?: 'cluster' | 'gateway'
  readonly onStoreDown?: 'closed' | 'local'
}

/** The options of policies that remember what was used. */
export const sharingOptions = {
  scope: optionalOneOf(
    ['cluster', 'gateway'],
    'Who remembers together: all gateways with the same `state`, or the workers of this one. Without `state` both are the same.',
    DEFAULT_SCOPE,
  ),
  onStoreDown: optionalOneOf(
    ['closed', 'local'],
    'While the store does not answer: requests are refused with 503 `GW_AUTH_UNAVAILABLE` (`closed`), or each worker goes by what it has seen itself (`local`), and the same may be accepted once by each.',
    DEFAULT_ON_STORE_DOWN,
  ),
}
