import { type CompileEnv, type Exchange, type Outcome, parseSize, type Step } from '@sluice/core'
import { limitBody } from '../../shared/message/side.js'
import { boundsOf } from './bounds.js'
import { areWithin } from './headers.js'
import type { RequestSizes } from './schema.js'

const AMPERSAND = 38

/** Creates the hooks that check requests. */
export function requestHooks(sizes: RequestSizes, env: CompileEnv): Omit<Step, 'name'> {
  const { headers, minBody, maxBody } = boundsOf(sizes)
  const maxUrl = sizes.maxUrlBytes === undefined ? Number.POSITIVE_INFINITY : parseSize(sizes.maxUrlBytes)
  const maxParameters = sizes.maxQueryParameters ?? Number.POSITIVE_INFINITY
  const refusals = refusalsOf(sizes, env)
  const onRequest = (x: Exchange): Outcome => {
    if (x.rawPath.length + (x.query === '' ? 0 : x.query.length + 1) > maxUrl) return refusals.url
    if (maxParameters !== Number.POSITIVE_INFINITY && parameterCount(x.query) > maxParameters)
      return refusals.parameters
    if (!areWithin(x.headers, headers)) return refusals.headers
    limitBody(x, 'request', maxBody)
    if (x.contentLength > maxBody) return refusals.large
    return x.contentLength >= 0 && x.contentLength < minBody ? refusals.small : null
  }
  if (minBody === 0) return { onRequest }
  return { onRequest, onRequestBody: (_, body) => (body.length < minBody ? refusals.small : null) }
}

function refusalsOf(sizes: RequestSizes, env: CompileEnv) {
  return {
    url: env.refusal('GW_URL_TOO_LONG', `path and query are too long: send at most ${sizes.maxUrlBytes}`),
    parameters: env.refusal(
      'GW_URL_TOO_LONG',
      `the query has too many parameters: send at most ${sizes.maxQueryParameters}`,
    ),
    headers: env.refusal('GW_HEADERS_TOO_LARGE', 'too many or too long header fields: send less'),
    large: env.refusal(
      'GW_BODY_TOO_LARGE',
      `the request body is too large: send at most ${sizes.maxBodyBytes}`,
    ),
    small: env.refusal(
      'GW_BODY_TOO_SMALL',
      `the request body is too small: send at least ${sizes.minBodyBytes}`,
    ),
  }
}

/** Counts query parameters. Empty ones count, because servers differ about them. */
function parameterCount(query: string): number {
  if (query === '') return 0
  let count = 1
  for (let i = 0; i < query.length; i++) {
    if (query.charCodeAt(i) === AMPERSAND) count++
  }
  return count
}
