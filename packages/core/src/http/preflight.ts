import { headerValue } from './header-list.js'
import { isToken } from './http-syntax.js'

/**
 * Returns the requested method of a CORS preflight (Fetch section 4.8), or null if the request is not a
 * preflight.
 */
export function preflightMethod(x: {
  readonly method: string
  readonly headers: readonly string[]
}): string | null {
  if (x.method !== 'OPTIONS' || headerValue(x.headers, 'origin') === null) return null
  const method = headerValue(x.headers, 'access-control-request-method')
  return method !== null && isToken(method) ? method : null
}
