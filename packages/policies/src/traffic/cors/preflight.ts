import {
  type CompileEnv,
  type Exchange,
  headerJoined,
  headerValue,
  isToken,
  type Outcome,
  parseDuration,
  preflightMethod,
  substitute,
} from '@sluice/core'
import { isStar } from './names.js'
import type { Origins } from './origins.js'
import type { CorsConfig } from './schema.js'

/** Maximum number of header names in a preflight. */
const MAX_REQUESTED = 100
const VARY = ['vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers']

/** Compiles the response to preflight requests (Fetch standard, 4.8). */
export function compilePreflight(
  config: CorsConfig,
  origins: Origins,
  env: CompileEnv,
): (x: Exchange) => Outcome {
  const { methods, headers, credentials } = config
  const isEveryMethod = isStar('methods', methods)
  const isEveryHeader = isStar('headers', headers)
  const fixed = [
    ...['access-control-max-age', String(Math.floor(parseDuration(config.maxAge) / 1000))],
    ...(credentials ? ['access-control-allow-credentials', 'true'] : []),
    ...(isEveryMethod || methods.length === 0 ? [] : ['access-control-allow-methods', methods.join(', ')]),
    ...(isEveryHeader || headers.length === 0 ? [] : ['access-control-allow-headers', headers.join(', ')]),
    ...VARY,
  ]
  const denied = env.refusal('GW_CORS_DENIED', 'pages of this origin may not call this API', VARY)
  return (x) => {
    const origin = origins.allowedOf(x)
    if (origin === null) return denied
    const fields = ['access-control-allow-origin', origins.isOpen ? '*' : origin, ...fixed]
    if (isEveryMethod) fields.push('access-control-allow-methods', preflightMethod(x)!)
    const asked = isEveryHeader ? requestedHeaders(x) : ''
    if (asked !== '') fields.push('access-control-allow-headers', asked)
    if (
      config.privateNetwork === true &&
      headerValue(x.headers, 'access-control-request-private-network') === 'true'
    )
      fields.push('access-control-allow-private-network', 'true')
    return substitute(204, fields, null)
  }
}

/** Returns the header names that a preflight asks for, or '' if one is invalid or there are too many. */
function requestedHeaders(x: Exchange): string {
  const names = (headerJoined(x.headers, 'access-control-request-headers') ?? '').split(
    ',',
    MAX_REQUESTED + 1,
  )
  const trimmed = names.map((name) => name.trim())
  return trimmed.length <= MAX_REQUESTED && trimmed.every(isToken) ? trimmed.join(', ') : ''
}
