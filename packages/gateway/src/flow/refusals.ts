import { ConditionError } from '@sluice/config/serving'
import { PolicyFailure, type Reply, refusal } from '@sluice/core'

/** Refusals that do not depend on a route, built once. */
export const REFUSALS = {
  tooLarge: refusal('GW_BODY_TOO_LARGE', 'the request body is larger than this route accepts'),
  overloaded: refusal('GW_OVERLOADED', 'too many request bodies are arriving at the same time', [
    'retry-after',
    '1',
  ]),
  tooSlow: refusal('GW_REQUEST_TIMEOUT', 'the request body did not arrive in time'),
  tooLong: refusal('GW_REQUEST_TIMEOUT', 'the request body was not complete before timeouts.total expired'),
  policyFailed: refusal('GW_POLICY_ERROR', 'a policy of this route failed; the request was refused'),
  policyTimedOut: refusal('GW_POLICY_ERROR', 'a policy of this route did not decide in time'),
  conditionFailed: refusal('GW_CONDITION_ERROR', 'a condition of this route could not be evaluated'),
  encodedSlash: refusal(
    'GW_BAD_REQUEST',
    'the path contains an escaped slash or backslash (%2F, %5C), which this route does not accept',
  ),
  /** Only in the record of a request that was in flight when the drain timeout passed. No client receives it. */
  cutShort: refusal('GW_DRAINING', 'the gateway shut down before the response was complete'),
  notFound: refusal(
    'GW_ROUTE_NOT_FOUND',
    'no route matches the host, path, headers and query of the request',
  ),
  responseTooLarge: refusal(
    'GW_RESPONSE_INVALID',
    'the response of the upstream is larger than the policies of this route allow',
  ),
  internal: refusal('GW_INTERNAL', 'internal gateway error; search the logs for the request id'),
} as const

/** Returns the reply for an exception from a policy. */
export function faultReply(error: unknown): Reply {
  if (error instanceof PolicyFailure) return refusal(error.code, error.detail)
  return error instanceof ConditionError ? REFUSALS.conditionFailed : REFUSALS.policyFailed
}
