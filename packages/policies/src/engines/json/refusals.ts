import { type Reply, refusal } from '@sluice/core'
import { overloadRefusal } from '../../shared/overload.js'

/** The refusals of policies that read bodies. */
export const BODY_REFUSALS = {
  overloaded: overloadRefusal('too many large bodies are being worked on; try again'),
  responseInvalid: refusal('GW_RESPONSE_INVALID', 'the response of the upstream is not what it has to be'),
} as const

/** For a request body that is larger than a policy reads. */
export function tooLarge(maxBytes: number): Reply {
  return refusal(
    'GW_BODY_TOO_LARGE',
    `the request body is larger than the limit; send at most ${maxBytes} bytes`,
  )
}
