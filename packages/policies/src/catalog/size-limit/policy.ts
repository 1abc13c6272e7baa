import { type CompileEnv, definePolicy, type Exchange, type Outcome, type Step } from '@sluice/core'
import { isBodiless, limitBody } from '../../shared/message/side.js'
import { withContext } from '../../shared/with-context.js'
import { boundsOf } from './bounds.js'
import { areWithin } from './headers.js'
import { requestHooks } from './request.js'
import { type MessageSizes, sizeLimitSchema } from './schema.js'

/** Bounds the sizes of requests and responses. */
export const sizeLimit = definePolicy({
  name: 'size-limit',
  summary: 'Bounds the sizes of requests and responses: headers, URL and body.',
  schema: sizeLimitSchema,
  compile({ request, response }, env) {
    return {
      name: 'size-limit',
      ...(request !== undefined && withContext("under 'request':", () => requestHooks(request, env))),
      ...(response !== undefined && withContext("under 'response':", () => responseHooks(response, env))),
    }
  },
})

/** The hooks that measure responses. */
function responseHooks(sizes: MessageSizes, env: CompileEnv): Omit<Step, 'name'> {
  const { headers, minBody, maxBody } = boundsOf(sizes)
  const tooManyHeaders = refusalOf(env, 'the header fields of the response are too many or too long')
  const tooLarge = refusalOf(env, 'the body of the response is too large')
  const tooSmall = refusalOf(env, 'the body of the response is too small')
  return {
    onResponse(x: Exchange): Outcome {
      if (!areWithin(x.responseHeaders, headers)) return tooManyHeaders
      // What such a response announces is the length of a body that it does not bring (RFC 9110 section 8.6).
      if (isBodiless(x)) return null
      if (x.responseLength > maxBody) return tooLarge
      if (x.responseLength >= 0 && x.responseLength < minBody) return tooSmall
      limitBody(x, 'response', maxBody)
      if (maxBody < x.responseCutoff) x.responseCutoff = maxBody
      return null
    },
  }
}

function refusalOf(env: CompileEnv, what: string) {
  return env.refusal('GW_RESPONSE_INVALID', `${what}; the operator of this API knows more`)
}
