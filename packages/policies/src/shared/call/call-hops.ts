import { type Exchange, headerValue, refusal } from '@sluice/core'

/** Header with the number of policy calls that led to a request. */
const HOPS_FIELD = 'x-sluice-hops'
/** Maximum number of nested policy calls. */
const MAX_HOPS = 5

/** Refusal of a request that policy calls have sent around in a loop. */
export const CALL_LOOP = refusal(
  'GW_CALL_LOOP',
  'request loop detected: policies of gateways call each other',
)

/** Returns the header (name and value) for a call on behalf of a request, or null if the limit is reached. */
export function hopField(x: Exchange): readonly [string, string] | null {
  const written = headerValue(x.headers, HOPS_FIELD)
  if (written === null) return FIRST_HOP
  const hops = /^\d$/.test(written) ? Number(written) : MAX_HOPS
  return hops >= MAX_HOPS ? null : [HOPS_FIELD, String(hops + 1)]
}

const FIRST_HOP = [HOPS_FIELD, '1'] as const
