import type { HashKey, RequestMatch } from '@sluice/config'
import { type Exchange, headerValue, trimOws } from '@sluice/core'

/** Returns the value by which a target or a canary is selected, or null if the request has none. */
export function requestKey(x: Exchange, on: HashKey): string | null {
  switch (on.kind) {
    case 'ip':
      return x.clientIp
    case 'consumer':
      return x.consumer?.id ?? null
    case 'claim':
      return x.claims?.get(on.name) ?? null
    case 'header':
      return headerValue(x.headers, on.name)
    default:
      return requestCookie(x, on.name)
  }
}

/** Returns true if the request has the header or cookie, with the given value if there is one. */
export function matchesRequest(x: Exchange, { kind, name, value }: RequestMatch): boolean {
  const found = kind === 'header' ? headerValue(x.headers, name) : requestCookie(x, name)
  return found !== null && (value === null || found === value)
}

/** Returns the value of a cookie (RFC 6265 section 4.2.1), or null. */
export function requestCookie(x: Exchange, name: string): string | null {
  const field = headerValue(x.headers, 'cookie')
  if (field === null) return null
  for (const pair of field.split(';')) {
    const equals = pair.indexOf('=')
    if (equals > 0 && trimOws(pair.slice(0, equals)) === name) return trimOws(pair.slice(equals + 1))
  }
  return null
}

/** Returns a 32-bit FNV-1a hash with a final mix, which spreads short similar keys well enough for a ring. */
export function hashText(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value ^= value >>> 16
  value = Math.imul(value, 0x85ebca6b)
  value ^= value >>> 13
  return (value ^ (value >>> 16)) >>> 0
}
