import {
  type CompileEnv,
  type ErrorCode,
  type Eventual,
  type Exchange,
  hasContentCoding,
  type Reply,
  type Step,
} from '@sluice/core'
import { hooksOn } from '../../shared/message/hooks.js'
import { headersOf, isBodiless, limitBody, type Side } from '../../shared/message/side.js'

/** Processes a body without a content coding. */
export type BodyWork = (x: Exchange, body: Uint8Array) => Eventual

/** Creates the refusal of an invalid message: the client's fault in a request, the upstream's in a response. */
export function messageRefusal(side: Side, env: CompileEnv, code: ErrorCode, detail: string): Reply {
  if (side === 'response')
    return env.refusal('GW_RESPONSE_INVALID', `the response of the upstream: ${detail}`)
  const challenge = code.startsWith('GW_SIGNATURE') ? ['www-authenticate', 'JWS'] : []
  return env.refusal(code, detail, challenge)
}

/**
 * Creates the step that processes every body of one side.
 * @param maxBytes maximum body size, or null for the limit of the listener.
 */
export function bodyStep(
  name: string,
  side: Side,
  work: BodyWork,
  { env, maxBytes }: { readonly env: CompileEnv; readonly maxBytes: number | null },
): Step {
  const coded = messageRefusal(
    side,
    env,
    'GW_MEDIA_TYPE',
    'the body has a content coding; send it without content-encoding',
  )
  return {
    name,
    ...hooksOn(side, () => ({
      ...(maxBytes !== null && {
        head(x: Exchange) {
          limitBody(x, side, maxBytes)
          return null
        },
      }),
      body(x, body) {
        // A response without a body contains nothing to verify.
        if (side === 'response' && isBodiless(x)) return null
        return hasContentCoding(headersOf(x, side)) ? coded : work(x, body)
      },
    })),
  }
}
