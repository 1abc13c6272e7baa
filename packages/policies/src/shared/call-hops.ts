import { type Exchange, headerValue, refusal } from '@sluice/core'

/** Says how many calls of policies a request is the consequence of. */
const HOPS_FIELD = 'x-sluice-hops'
/** A call that comes back to the gateway and calls again, so many times. */
const MAX_HOPS = 5

/** The answer to a request that calls of policies have made go in a circle. */
export const CALL_LOOP = refusal(
  'GW_CALL_LOOP',
  'calls between gateways go in a circle; the request ends here',
)

/** The field (name and value) that a call on behalf of a request carries; null: it would be one too many. */
export function hopField(x: Exchange): readonly [string, string] | null {
  const written = headerValue(x.headers, HOPS_FIELD)
  if (written === null) return FIRST_HOP
  const hops = /^\d$/.test(written) ? Number(written) : MAX_HOPS
  return hops >= MAX_HOPS ? null : [HOPS_FIELD, String(hops + 1)]
}

const FIRST_HOP = [HOPS_FIELD, '1'] as const
