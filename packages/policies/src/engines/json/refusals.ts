import { type Reply, refusal } from '@sluice/core'
import { overloadRefusal } from '../../shared/outcome/overload.js'

/** Refusals of policies that read bodies. */
export const BODY_REFUSALS = {
  overloaded: overloadRefusal('too many large bodies are being processed; try again'),
  responseInvalid: refusal('GW_RESPONSE_INVALID', 'the response of the upstream is not valid'),
} as const

/** Creates the refusal of a request body that exceeds the limit of a policy. */
export function tooLarge(maxBytes: number): Reply {
  return refusal(
    'GW_BODY_TOO_LARGE',
    `the request body is larger than the limit; send at most ${maxBytes} bytes`,
  )
}
