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

/** What a policy does with a body; it is never asked about one in a content coding. */
export type BodyWork = (x: Exchange, body: Uint8Array) => Eventual

/** A refusal for what is wrong with the message: the client's fault in a request, the upstream's in a response. */
export function messageRefusal(side: Side, env: CompileEnv, code: ErrorCode, detail: string): Reply {
  if (side === 'response')
    return env.refusal('GW_RESPONSE_INVALID', `the response of the upstream: ${detail}`)
  const challenge = code.startsWith('GW_SIGNATURE') ? ['www-authenticate', 'JWS'] : []
  return env.refusal(code, detail, challenge)
}

/** The step that hands every body of one side to the work. @param maxBytes bounds them; null: as the listener does. */
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
    'bodies in a content coding are not taken; send plain ones',
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
        // Such a response has nothing that somebody could trust.
        if (side === 'response' && isBodiless(x)) return null
        return hasContentCoding(headersOf(x, side)) ? coded : work(x, body)
      },
    })),
  }
}
