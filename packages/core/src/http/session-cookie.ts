import type { IncomingHttpHeaders } from 'node:http'

/** Header that the dashboard sends with changes. Other sites cannot send it without a preflight, which is refused. */
const UI_HEADER = 'x-sluice-ui'

/**
 * Returns the name of the session cookie. Cookies are shared by all ports of a host, so the name has the port.
 * With TLS, the prefix keeps other hosts and plain HTTP from setting it.
 */
export function cookieName(host: string, isSecure: boolean, purpose = 'session'): string {
  const port = /:(\d{1,5})$/.exec(host)?.[1] ?? (isSecure ? '443' : '80')
  return `${isSecure ? '__Host-' : ''}sluice-${purpose}-${port}`
}

/** Returns the session id in a Cookie header; empty if there is none, or more than one. */
export function sessionIdIn(cookies: string, name: string): string {
  const pairs = cookies.split(';').map((pair) => pair.trim())
  const values = pairs
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  return values.length === 1 && /^[\w-]{43}$/.test(values[0]!) ? values[0]! : ''
}

/** Options of a session cookie. */
interface CookieOptions {
  readonly isSecure: boolean
  readonly maxAgeMs: number
  /** `Lax` for a cookie that must survive a redirect from another site. Default: `Strict`. */
  readonly sameSite?: 'Lax' | 'Strict'
}

/** Returns a Set-Cookie header. An empty id deletes the cookie. */
export function sessionCookie(
  name: string,
  sessionId: string,
  { isSecure, maxAgeMs, sameSite = 'Strict' }: CookieOptions,
): string {
  const maxAge = sessionId === '' ? 0 : maxAgeMs / 1000
  const secure = isSecure ? '; Secure' : ''
  return `${name}=${sessionId}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=${sameSite}${secure}`
}

/** Returns true if another site may have sent a request, which a session cookie alone does not rule out. */
export function isForgeable(method: string, headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'] ?? 'same-origin'
  if (site !== 'same-origin' && site !== 'none') return true
  return method !== 'GET' && method !== 'HEAD' && headers[UI_HEADER] !== '1'
}
