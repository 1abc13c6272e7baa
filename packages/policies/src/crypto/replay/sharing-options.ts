import { optionalOneOf } from '../../shared/options/options.js'

/** Options for the scope of replay detection and for store outages. */
export interface SharingConfig {
  readonly scope?: 'cluster' | 'gateway'
  readonly onStoreDown?: 'closed' | 'local'
}

/** Schema options of policies that detect replays. */
export const sharingOptions = {
  scope: optionalOneOf(
    ['cluster', 'gateway'],
    'Gateways that detect replays together: all gateways with the same `state`, or only the workers of this one. Without `state` there is no difference.',
    'cluster',
  ),
  onStoreDown: optionalOneOf(
    ['closed', 'local'],
    'Behaviour while the store does not respond. `closed`: requests are refused with 503 `GW_AUTH_UNAVAILABLE`. `local`: each worker detects only its own replays, so every worker may accept the same request once.',
    'closed',
  ),
}
