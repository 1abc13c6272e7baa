import { canonicalIpv6, ipv4Number, isIpAddress } from '@sluice/core'
import type { Flaw } from '../flaw.js'

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/

/** Whether text is an IPv4 address, an IPv6 address in brackets, or a host name; in lower case. */
export function isHost(text: string): boolean {
  return ipv4Number(text) !== -1 || isBracketedIpv6(text) || isHostName(text)
}

/** Reads a host, with any case: the host in lower case. */
export function parseHost(text: string): string | Flaw {
  const host = normalHost(text)
  if (isHost(host)) return host
  return { message: `'${text}' is not a host`, remedy: 'write a name such as api.example.com, or an address' }
}

/** A host or host pattern as requests are compared with it. */
export function normalHost(text: string): string {
  const lower = text.toLowerCase()
  return isBracketedIpv6(lower) ? canonicalIpv6(lower) : lower
}

/** Reads a host pattern, `api.example.com` or `*.example.com`, with any case: the pattern in lower case. */
export function parseHostPattern(text: string): string | Flaw {
  const pattern = normalHost(text)
  if (pattern === '*') {
    return { message: "'*' is not a host pattern", remedy: 'leave hosts out to take every host' }
  }
  const host = pattern.startsWith('*.') ? pattern.slice(2) : pattern
  if (host === pattern ? isHost(host) : isHostName(host)) return pattern
  return { message: `'${text}' is not a host pattern`, remedy: patternRemedy(pattern) }
}

function patternRemedy(pattern: string): string {
  if (pattern.includes('/')) return 'leave the scheme and the path out'
  if (pattern.includes('*')) return "'*' may only stand for the leftmost labels, as in *.example.com"
  if (/:\d+$/.test(pattern)) return 'leave the port out'
  if (pattern.endsWith('.')) return 'leave the dot at the end out'
  if (/[^\u0000-\u007f]/.test(pattern)) return 'write the name in its ASCII form (xn--…)'
  return 'write for example api.example.com or *.example.com'
}

function isBracketedIpv6(text: string): boolean {
  if (!text.startsWith('[') || !text.endsWith(']')) return false
  const address = text.slice(1, -1)
  return address.includes(':') && !address.includes('%') && isIpAddress(address)
}

/** The last label of a name is not a number: `10.0.0.300` is a mistaken address. */
function isHostName(text: string): boolean {
  if (text.length > 253) return false
  const labels = text.split('.')
  return labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '')
}
