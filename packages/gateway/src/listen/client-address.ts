import {
  type CidrSet,
  headerJoined,
  headerValue,
  isIpAddress,
  plainName,
  type ReceivedExchange,
  type Reply,
  refusal,
  removeHeader,
  setHeader,
  trimOws,
} from '@sluice/core'
import { type ForwardedHop, forwardedHops } from './forwarded.js'
import type { ListenerSettings } from './listener.js'
import { canonicalAddress } from './peer-address.js'

const MAX_PORT = 65_535
const NO_HOPS: readonly ForwardedHop[] = []

const BAD_HOP = refusal(
  'GW_BAD_REQUEST',
  'a trusted proxy forwarded this request without a valid client address',
)

/** Settings of a listener that decide which forwarding fields are trusted. */
export type Trust = Pick<ListenerSettings, 'trusted' | 'forwardedHeader'>

/**
 * Determines the client's address behind trusted proxies and removes untrusted forwarding fields. From a peer outside
 * `trusted`, X-Forwarded-*, Forwarded and X-Request-Id are ignored. A trusted proxy may pass on fields that its client
 * wrote, so only the family of fields that the listener reads is kept. Returns a refusal if the fields are malformed.
 */
export function applyClientAddress(x: ReceivedExchange, { trusted, forwardedHeader }: Trust): Reply | null {
  x.clientIp = x.peer
  const isTrusted = trusted?.has(x.peer) === true
  if (hasForwardingField(x.headers)) {
    x.forwardedFor = headerJoined(x.headers, 'x-forwarded-for') ?? ''
    if (!isTrusted) dropFields(x, isForwardingField)
    else dropFields(x, forwardedHeader === 'forwarded' ? isUnreadByForwarded : isUnreadByXForwarded)
  }
  return isTrusted ? readForwarding(x, trusted, forwardedHeader) : null
}

function readForwarding(x: ReceivedExchange, trusted: CidrSet, from: Trust['forwardedHeader']): Reply | null {
  const id = headerValue(x.headers, 'x-request-id')
  if (id !== null && id.length <= 128 && /^[A-Za-z0-9._:-]+$/.test(id)) x.id = id
  const hop = lastUntrusted(from === 'forwarded' ? forwardedHopsOf(x) : xForwardedHopsOf(x), trusted)
  if (hop === MALFORMED) return BAD_HOP
  if (hop !== null) {
    x.clientIp = canonicalAddress(bareAddress(hop.node))
    x.clientPort = portOf(hop.node)
  }
  const proto = from === 'forwarded' ? hop?.proto : headerJoined(x.headers, 'x-forwarded-proto')
  if (proto === 'https' || proto === 'http') x.scheme = proto
  return null
}

function hasForwardingField(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (isForwardingField(headers[i]!)) return true
  }
  return false
}

/**
 * Returns true if a field describes forwarding: X-Forwarded-*, Forwarded, X-Real-IP or X-Request-Id.
 * @param name in lower case.
 */
export function isForwardingField(name: string): boolean {
  if (name.charCodeAt(0) === 120 /* x */) {
    if (name.startsWith('x-forwarded-') || name === 'x-request-id' || name === 'x-real-ip') return true
    const plain = plainName(name)
    return plain !== name && isForwardingField(plain)
  }
  return name === 'forwarded'
}

/** CGI-like targets cannot distinguish X_Forwarded_For from X-Forwarded-For. No legitimate proxy sends the former. */
function isUnreadByXForwarded(name: string): boolean {
  return name === 'forwarded' || (plainName(name) !== name && isForwardingField(name))
}

function isUnreadByForwarded(name: string): boolean {
  return name !== 'forwarded' && name !== 'x-request-id' && isForwardingField(name)
}

function dropFields(x: ReceivedExchange, isDropped: (name: string) => boolean): void {
  if (!x.headers.some((name, i) => i % 2 === 0 && isDropped(name))) return
  const kept: string[] = []
  for (let i = 0; i < x.headers.length; i += 2) {
    if (!isDropped(x.headers[i]!)) kept.push(x.headers[i]!, x.headers[i + 1]!)
  }
  x.headers = kept
}

/** Returns the hops named by proxies, the client's first. */
function xForwardedHopsOf(x: ReceivedExchange): readonly ForwardedHop[] {
  if (x.forwardedFor === '') return NO_HOPS
  return x.forwardedFor.split(',').map((node) => ({ node: trimOws(node), proto: '' }))
}

function forwardedHopsOf(x: ReceivedExchange): readonly ForwardedHop[] {
  const forwarded = headerJoined(x.headers, 'forwarded')
  return forwarded === null ? NO_HOPS : forwardedHops(forwarded)
}

const MALFORMED = 'malformed'

/**
 * Returns the right-most hop that is not a trusted proxy, or null. Hops further left are unverified
 * claims of the client. A hop that must be read but is not an address is malformed: it could stand for any client.
 */
function lastUntrusted(
  hops: readonly ForwardedHop[],
  trusted: CidrSet,
): ForwardedHop | typeof MALFORMED | null {
  let last: ForwardedHop | null = null
  for (let i = hops.length - 1; i >= 0; i--) {
    const hop = hops[i]!
    if (hop.node === '') continue
    const address = bareAddress(hop.node)
    if (!isClientAddress(address)) return MALFORMED
    last = hop
    if (!trusted.has(address)) break
  }
  return last
}

/** `1.2.3.4` or `[::1]`, optionally with a port, which may be obfuscated (RFC 7239 section 6). */
const NODE = /^(?:\[([^\]]*:[^\]]*)\]|([^:[\]]*))(?::(?:(\d{1,5})|_[\w.-]+))?$/

/** Removes port and brackets: `1.2.3.4:80`, `[::1]:80`, `::1`. Returns any other text unchanged. */
function bareAddress(text: string): string {
  const [, bracketed, bare, port = 0] = NODE.exec(text) ?? []
  return Number(port) > MAX_PORT ? text : (bracketed ?? bare ?? text)
}

/**
 * Returns the port after an address, as some proxies write it (RFC 7239 section 6). 0 if it is missing or obfuscated.
 */
function portOf(hop: string): number {
  return Number(NODE.exec(hop)?.[3] ?? 0)
}

/** Returns true for an address without a zone. A zone would name an interface of the proxy, not of this host. */
function isClientAddress(text: string): boolean {
  return !text.includes('%') && isIpAddress(text)
}

/**
 * Adds the forwarding fields for the upstream: X-Forwarded-For, -Proto, -Host and X-Request-Id. Appends to Forwarded if
 * a trusted proxy has sent that field.
 */
export function addForwardingFields(x: ReceivedExchange): void {
  const headers = x.headers
  if (!hasForwardingField(headers)) {
    headers.push('x-forwarded-for', x.peer, 'x-forwarded-proto', x.scheme)
    headers.push('x-forwarded-host', x.authority, 'x-request-id', x.id)
    return
  }
  const chain = headerJoined(headers, 'x-forwarded-for')
  const before = chain ?? (x.clientIp === x.peer ? null : x.clientIp)
  setHeader(headers, 'x-forwarded-for', before === null ? x.peer : before + ', ' + x.peer)
  setHeader(headers, 'x-forwarded-proto', x.scheme)
  const host = headerValue(headers, 'x-forwarded-host')
  if (host === null) headers.push('x-forwarded-host', x.authority)
  const forwarded = headerJoined(headers, 'forwarded')
  if (forwarded !== null) setHeader(headers, 'forwarded', forwarded + ', ' + forwardedElement(x))
  removeHeader(headers, 'x-request-id')
  headers.push('x-request-id', x.id)
}

function forwardedElement(x: ReceivedExchange): string {
  const node = x.peer.includes(':') ? `"[${x.peer}]"` : x.peer
  return `for=${node};host="${x.authority}";proto=${x.scheme}`
}
