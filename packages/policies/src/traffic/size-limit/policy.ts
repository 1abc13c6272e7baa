import { type CompileEnv, definePolicy, type Exchange, type Outcome, type Step } from '@sluice/core'
import { isBodiless, limitBody } from '../../shared/message/side.js'
import { withContext } from '../../shared/outcome/with-context.js'
import { boundsOf } from './bounds.js'
import { areWithin } from './headers.js'
import { requestHooks } from './request.js'
import { type MessageSizes, sizeLimitSchema } from './schema.js'

/** The `size-limit` policy. Limits the sizes of requests and responses. */
export const sizeLimit = definePolicy({
  name: 'size-limit',
  summary: 'Limits the sizes of requests and responses: headers, URL and body.',
  schema: sizeLimitSchema,
  decides: () => 'limit',
  compile({ request, response }, env) {
    return {
      name: 'size-limit',
      ...(request !== undefined && withContext("under 'request':", () => requestHooks(request, env))),
      ...(response !== undefined && withContext("under 'response':", () => responseHooks(response, env))),
    }
  },
})

function responseHooks(sizes: MessageSizes, env: CompileEnv): Omit<Step, 'name'> {
  const { headers, minBody, maxBody } = boundsOf(sizes)
  const tooManyHeaders = refusalOf(env, 'the response has too many or too long header fields')
  const tooLarge = refusalOf(env, 'the body of the response is too large')
  const tooSmall = refusalOf(env, 'the body of the response is too small')
  return {
    onResponse(x: Exchange): Outcome {
      if (!areWithin(x.responseHeaders, headers)) return tooManyHeaders
      // Such a response announces the length of a body that is not sent (RFC 9110 section 8.6).
      if (isBodiless(x)) return null
      if (x.responseLength > maxBody) return tooLarge
      if (x.responseLength >= 0 && x.responseLength < minBody) return tooSmall
      limitBody(x, 'response', maxBody)
      if (maxBody < x.responseCutoff) x.responseCutoff = maxBody
      return null
    },
  }
}

function refusalOf(env: CompileEnv, problem: string) {
  return env.refusal('GW_RESPONSE_INVALID', `${problem}: contact the operator of this API`)
}
