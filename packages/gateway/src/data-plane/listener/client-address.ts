import {
  type CidrSet,
  type Exchange,
  headerJoined,
  headerValue,
  isIpAddress,
  plainName,
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
  'a trusted proxy forwarded this request without the address of who sent it',
)

/** What of a listener's settings says whom to believe. */
export type Trust = Pick<ListenerSettings, 'trusted' | 'forwardedHeader'>

/**
 * Finds the client's address behind trusted proxies, and drops forwarding fields that nobody trusted has written:
 * a peer outside `trusted` gets no say in X-Forwarded-*, Forwarded or X-Request-Id, and a trusted one only in the family
 * of fields that the listener reads: it may pass on the others as its client wrote them. A reply means: refuse with it.
 */
export function applyClientAddress(x: Exchange, { trusted, forwardedHeader }: Trust): Reply | null {
  x.clientIp = x.peer
  const isTrusted = trusted?.has(x.peer) === true
  if (hasForwardingField(x.headers)) {
    x.forwardedFor = headerJoined(x.headers, 'x-forwarded-for') ?? ''
    if (!isTrusted) dropFields(x, isForwardingField)
    else dropFields(x, forwardedHeader === 'forwarded' ? isUnreadByForwarded : isUnreadByXForwarded)
  }
  return isTrusted ? readForwarding(x, trusted, forwardedHeader) : null
}

function readForwarding(x: Exchange, trusted: CidrSet, from: Trust['forwardedHeader']): Reply | null {
  const id = headerValue(x.headers, 'x-request-id')
  if (id !== null && isRequestId(id)) x.id = id
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

/** Whether a field says who forwarded a request: X-Forwarded-*, Forwarded, X-Real-IP, X-Request-Id. @param name in lower case. */
export function isForwardingField(name: string): boolean {
  if (name.charCodeAt(0) === 120 /* x */) {
    if (name.startsWith('x-forwarded-') || name === 'x-request-id' || name === 'x-real-ip') return true
    const plain = plainName(name)
    return plain !== name && isForwardingField(plain)
  }
  return name === 'forwarded'
}

/** CGI and its likes cannot distinguish X_Forwarded_For from X-Forwarded-For; nobody writes it in good faith. */
function isUnreadByXForwarded(name: string): boolean {
  return name === 'forwarded' || (plainName(name) !== name && isForwardingField(name))
}

function isUnreadByForwarded(name: string): boolean {
  return name !== 'forwarded' && name !== 'x-request-id' && isForwardingField(name)
}

function dropFields(x: Exchange, isDropped: (name: string) => boolean): void {
  if (!x.headers.some((name, i) => i % 2 === 0 && isDropped(name))) return
  const kept: string[] = []
  for (let i = 0; i < x.headers.length; i += 2) {
    if (!isDropped(x.headers[i]!)) kept.push(x.headers[i]!, x.headers[i + 1]!)
  }
  x.headers = kept
}

/** The hops that proxies name, the client's first. */
function xForwardedHopsOf(x: Exchange): readonly ForwardedHop[] {
  if (x.forwardedFor === '') return NO_HOPS
  return x.forwardedFor.split(',').map((node) => ({ node: trimOws(node), proto: '' }))
}

function forwardedHopsOf(x: Exchange): readonly ForwardedHop[] {
  const forwarded = headerJoined(x.headers, 'forwarded')
  return forwarded === null ? NO_HOPS : forwardedHops(forwarded)
}

const MALFORMED = 'malformed'

/**
 * The right-most hop that is not one of our own proxies: those to its left are the client's claim. Null when there is
 * none. A hop that has to be read and is no address could be anybody, so nobody may be taken for it.
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

/** `1.2.3.4`, `[::1]`, and one of these with a port, which may be a hidden one (RFC 7239 section 6). */
const NODE = /^(?:\[([^\]]*:[^\]]*)\]|([^:[\]]*))(?::(?:(\d{1,5})|_[\w.-]+))?$/

/** Without the port and the brackets: `1.2.3.4:80`, `[::1]:80`, `::1`. Itself when it is none of these. */
function bareAddress(text: string): string {
  const [, bracketed, bare, port = 0] = NODE.exec(text) ?? []
  return Number(port) > MAX_PORT ? text : (bracketed ?? bare ?? text)
}

/** The port behind an address, as some proxies write it (RFC 7239 section 6); 0 without one, or a hidden one. */
function portOf(hop: string): number {
  return Number(NODE.exec(hop)?.[3] ?? 0)
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

function forwardedElement(x: Exchange): string {
  const node = x.peer.includes(':') ? `"[${x.peer}]"` : x.peer
  return `for=${node};host="${x.authority}";proto=${x.scheme}`
}
