import type { Exchange } from '../contract/exchange.js'
import { headerValue } from './header-list.js'
import { isToken } from './http-syntax.js'

/** The method that a CORS preflight asks for (Fetch, 4.8), or null when the request is no preflight. */
export function preflightMethod(x: Exchange): string | null {
  if (x.method !== 'OPTIONS' || headerValue(x.headers, 'origin') === null) return null
  const method = headerValue(x.headers, 'access-control-request-method')
  return method !== null && isToken(method) ? method : null
}
