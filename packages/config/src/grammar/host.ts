import { canonicalIpv6, ipv4Number, isIpAddress } from '@sluice/core'
import type { Issue } from '../diagnostic/issue.js'

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/

/** True for an IPv4 address, an IPv6 address in brackets, or a host name, in lower case. */
export function isHost(text: string): boolean {
  return ipv4Number(text) !== -1 || isBracketedIpv6(text) || isHostName(text)
}

/** Parses a host in any case. Returns it in lower case. */
export function parseHost(text: string): string | Issue {
  const host = normalHost(text)
  if (isHost(host)) return host
  return { message: `'${text}' is not a host`, remedy: 'write for example api.example.com, or an address' }
}

/** Normalises a host or host pattern for comparison with requests. */
export function normalHost(text: string): string {
  const lower = text.toLowerCase()
  return isBracketedIpv6(lower) ? canonicalIpv6(lower) : lower
}

/**
 * Parses a host pattern such as `api.example.com` or `*.example.com` in any case. Returns it in lower case.
 */
export function parseHostPattern(text: string): string | Issue {
  const pattern = normalHost(text)
  if (pattern === '*')
    return { message: "'*' is not a host pattern", remedy: 'remove hosts to match every host' }
  const host = pattern.startsWith('*.') ? pattern.slice(2) : pattern
  if (host === pattern ? isHost(host) : isHostName(host)) return pattern
  return { message: `'${text}' is not a host pattern`, remedy: patternRemedy(pattern) }
}

function patternRemedy(pattern: string): string {
  if (pattern.includes('/')) return 'remove the scheme and the path'
  if (pattern.includes('*')) return "'*' is only allowed as the first label, as in *.example.com"
  if (/:\d+$/.test(pattern)) return 'remove the port'
  if (pattern.endsWith('.')) return 'remove the dot at the end'
  if (/[^\u0000-\u007f]/.test(pattern)) return 'write the name in its ASCII form (xn--…)'
  return 'write for example api.example.com or *.example.com'
}

function isBracketedIpv6(text: string): boolean {
  if (!text.startsWith('[') || !text.endsWith(']')) return false
  const address = text.slice(1, -1)
  return address.includes(':') && !address.includes('%') && isIpAddress(address)
}

/** True for a host name. The last label must not be a number: `10.0.0.300` is an invalid address. */
function isHostName(text: string): boolean {
  if (text.length > 253) return false
  const labels = text.split('.')
  return labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '')
}
