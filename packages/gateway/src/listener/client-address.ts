import {
  type CidrSet,
  type Exchange,
  headerJoined,
  headerValue,
  isIpAddress,
  removeHeader,
  setHeader,
} from '@sluice/core'
import { forwardedHops } from './forwarded.js'

const MAX_PORT = 65_535

/**
 * Finds the client's address behind trusted proxies, and drops forwarding fields that nobody trusted has written:
 * a peer outside `trusted` gets no say in X-Forwarded-*, Forwarded or X-Request-Id.
 */
export function applyClientAddress(x: Exchange, trusted: CidrSet | null): void {
  x.clientIp = x.peer
  if (trusted === null || !trusted.has(x.peer)) {
    dropForwarding(x)
    return
  }
  const hops = hopsOf(x)
  const hop = hops === null ? null : lastUntrusted(hops, trusted)
  if (hop !== null) {
    x.clientIp = bareAddress(hop)
    x.clientPort = portOf(hop)
  }
  const proto = headerValue(x.headers, 'x-forwarded-proto')
  if (proto === 'https' || proto === 'http') x.scheme = proto
  const id = headerValue(x.headers, 'x-request-id')
  if (id !== null && isRequestId(id)) x.id = id
}

function dropForwarding(x: Exchange): void {
  if (!hasForwardingField(x.headers)) return
  x.forwardedFor = headerJoined(x.headers, 'x-forwarded-for') ?? ''
  dropAll(x)
}

function hasForwardingField(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (isForwardingField(headers[i]!)) return true
  }
  return false
}

function isForwardingField(name: string): boolean {
  if (name.charCodeAt(0) === 120 /* x */) {
    return name.startsWith('x-forwarded-') || name === 'x-request-id' || name === 'x-real-ip'
  }
  return name === 'forwarded'
}

function dropAll(x: Exchange): void {
  const kept: string[] = []
  for (let i = 0; i < x.headers.length; i += 2) {
    if (!isForwardingField(x.headers[i]!)) kept.push(x.headers[i]!, x.headers[i + 1]!)
  }
  x.headers = kept
}

/** The hops that proxies name, the client's first; null when no field names any. */
function hopsOf(x: Exchange): readonly string[] | null {
  const chain = headerJoined(x.headers, 'x-forwarded-for')
  if (chain !== null) {
    x.forwardedFor = chain
    return chain.split(',')
  }
  const forwarded = headerJoined(x.headers, 'forwarded')
  return forwarded === null ? null : forwardedHops(forwarded)
}

/** The right-most hop that is not one of our own proxies: those to its left are the client's claim. */
function lastUntrusted(hops: readonly string[], trusted: CidrSet): string | null {
  for (let i = hops.length - 1; i >= 0; i--) {
    const hop = hops[i]!.trim()
    const address = bareAddress(hop)
    if (!isClientAddress(address)) return null
    if (i === 0 || !trusted.has(address)) return hop
  }
  return null
}

/** Without the port and the brackets: `1.2.3.4:80`, `[::1]:80`, `::1`. */
function bareAddress(text: string): string {
  if (text.startsWith('[')) return text.slice(1, Math.max(1, text.indexOf(']')))
  const colon = text.indexOf(':')
  return colon > 0 && colon === text.lastIndexOf(':') ? text.slice(0, colon) : text
}

/** The port behind an address, as some proxies write it (RFC 7239 section 6); 0 without one, or a hidden one. */
function portOf(hop: string): number {
  const port = /^(?:\[[^\]]*\]|[^:[]*):(\d{1,5})$/.exec(hop)?.[1]
  return port === undefined || Number(port) > MAX_PORT ? 0 : Number(port)
}

/** A zone names an interface of the proxy, not of this host. */
function isClientAddress(text: string): boolean {
  return !text.includes('%') && isIpAddress(text)
}

function isRequestId(text: string): boolean {
  return text.length <= 128 && /^[A-Za-z0-9._:-]+$/.test(text)
}

/**
 * Adds what the upstream should know of the client: X-Forwarded-For, -Proto, -Host and X-Request-Id, and one more
 * element of Forwarded where a trusted proxy already sent that field.
 */
export function addForwardingFields(x: Exchange): void {
  const headers = x.headers
  if (!hasForwardingField(headers)) {
    headers.push('x-forwarded-for', x.peer, 'x-forwarded-proto', x.scheme)
    headers.push('x-forwarded-host', x.authority, 'x-request-id', x.id)
    return
  }
  const chain = headerJoined(headers, 'x-forwarded-for')
  if (chain === null) headers.push('x-forwarded-for', x.peer, 'x-forwarded-proto', x.scheme)
  else {
    setHeader(headers, 'x-forwarded-for', chain + ', ' + x.peer)
    setHeader(headers, 'x-forwarded-proto', x.scheme)
  }
  const host = headerValue(headers, 'x-forwarded-host')
  if (host === null) headers.push('x-forwarded-host', x.authority)
  const forwarded = headerJoined(headers, 'forwarded')
  if (forwarded !== null) setHeader(headers, 'forwarded', forwarded + ', ' + forwardedElement(x))
  removeHeader(headers, 'x-request-id')
  headers.push('x-request-id', x.id)
}

function forwardedElement(x: Exchange): string {
  const node = x.peer.includes(':') ? `"[${x.peer}]"` : x.peer
  return `for=${node};host="${x.authority}";proto=${x.scheme}`
}
