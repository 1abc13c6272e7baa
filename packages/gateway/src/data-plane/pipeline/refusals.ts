import { ConditionError } from '@sluice/config/serving'
import { PolicyFailure, type Reply, refusal } from '@sluice/core'

/** The refusals that do not depend on a route, built once. */
export const REFUSALS = {
  tooLarge: refusal('GW_BODY_TOO_LARGE', 'the request body is larger than this route accepts'),
  tooSlow: refusal('GW_REQUEST_TIMEOUT', 'the request body did not arrive in time'),
  tooLong: refusal('GW_REQUEST_TIMEOUT', 'the request body had not come whole when timeouts.total was over'),
  policyFailed: refusal('GW_POLICY_ERROR', 'a policy of this route failed; the request was not let through'),
  policyTimedOut: refusal('GW_POLICY_ERROR', 'a policy of this route did not decide in time'),
  conditionFailed: refusal('GW_CONDITION_ERROR', 'a condition of this route could not be evaluated'),
  encodedSlash: refusal(
    'GW_BAD_REQUEST',
    'the path holds an escaped slash or backslash (%2F, %5C), which this route does not take',
  ),
  /** In the record of a request that was in flight when the time of a drain was over; no client gets it. */
  cutShort: refusal('GW_DRAINING', 'the gateway ended before the response was complete'),
  notFound: refusal('GW_ROUTE_NOT_FOUND', 'no route matches this host, path and these fields'),
  responseTooLarge: refusal(
    'GW_RESPONSE_INVALID',
    'the response of the upstream is larger than the policies of this route allow',
  ),
  internal: refusal('GW_INTERNAL', 'the gateway failed; the request id says where to look'),
} as const

/** What the client learns of a policy that threw. */
export function faultReply(error: unknown): Reply {
  if (error instanceof PolicyFailure) return refusal(error.code, error.detail)
  return error instanceof ConditionError ? REFUSALS.conditionFailed : REFUSALS.policyFailed
}
