import { canonicalIpv6, isIpAddress } from '@sluice/core'

const DOT = 46
const MAX_PORT = 65_535

/**
 * Parses a Host value (RFC 9110 section 7.2). The result has no trailing dot after the host name. Returns null unless
 * the value is `host`, `host:port`, `[v6]` or `[v6]:port`.
 */
export function readAuthority(value: string): { readonly text: string; readonly host: string } | null {
  const isIpv6 = value.charCodeAt(0) === 91 /* [ */
  const colon = isIpv6 ? value.indexOf(']') + 1 : value.indexOf(':')
  const end = colon < 0 ? value.length : colon
  const host = isIpv6 ? ipv6Host(value.slice(0, end)) : nameHost(value.slice(0, end))
  if (host === null || !isPort(value, end)) return null
  return { text: host + value.slice(end), host: host.toLowerCase() }
}

function ipv6Host(bracketed: string): string | null {
  const address = bracketed.slice(1, -1)
  return address.includes(':') && isIpAddress(address) && !address.includes('%')
    ? canonicalIpv6(bracketed)
    : null
}

function nameHost(name: string): string | null {
  const end = name.endsWith('.') ? name.length - 1 : name.length
  let previous = DOT
  for (let i = 0; i < end; i++) {
    const code = name.charCodeAt(i)
    if (!isNameChar(code) || (code === DOT && previous === DOT)) return null
    previous = code
  }
  return previous === DOT ? null : name.slice(0, end)
}

function isPort(value: string, at: number): boolean {
  if (at === value.length) return true
  const digits = value.length - at - 1
  if (value.charCodeAt(at) !== 58 || digits > 5) return false
  for (let i = at + 1; i < value.length; i++) {
    if (!isDigit(value.charCodeAt(i))) return false
  }
  return Number(value.slice(at + 1)) <= MAX_PORT
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function isNameChar(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 48 && code <= 57) ||
    (code >= 65 && code <= 90) ||
    code === 45 ||
    code === 46 ||
    code === 95
  )
}
