import { createHash } from 'node:crypto'
import { type Exchange, type HeaderList, listHasToken, type Reply, refusal } from '@sluice/core'

/** GUID for Sec-WebSocket-Accept (RFC 6455 section 1.3). */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
/** 16 bytes in Base64. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/
const VERSION = '13'
const DEFLATE = 'permessage-deflate'

const KEY_FIELD = 'sec-websocket-key'
const VERSION_FIELD = 'sec-websocket-version'
const ACCEPT_FIELD = 'sec-websocket-accept'
const PROTOCOL_FIELD = 'sec-websocket-protocol'
const EXTENSIONS_FIELD = 'sec-websocket-extensions'

const REPLIES = {
  unsupported: refusal(
    'GW_UPGRADE_NOT_SUPPORTED',
    'this route does not allow WebSockets; the key websocket of the route allows them',
  ),
  handshake: refusal('GW_BAD_REQUEST', 'the WebSocket handshake is not valid (RFC 6455 section 4.1)'),
  version: refusal('GW_WEBSOCKET_VERSION', 'the only supported WebSocket version is 13', [
    VERSION_FIELD,
    VERSION,
  ]),
} as const

/**
 * Returns the refusal of an invalid handshake, or null if the handshake may be forwarded.
 * @param isServed true if the route allows WebSockets.
 */
export function refuseHandshake(x: Exchange, isServed: boolean): Reply | null {
  if (!isServed) return REPLIES.unsupported
  if (x.method !== 'GET' || x.httpVersion !== '1.1' || x.contentLength !== 0) return REPLIES.handshake
  const key = onlyValue(x.headers, KEY_FIELD)
  if (key === null || !KEY.test(key)) return REPLIES.handshake
  return onlyValue(x.headers, VERSION_FIELD) === VERSION ? null : REPLIES.version
}

/** Removes the extensions that the gateway cannot relay from the client's offer: all but permessage-deflate, or all. */
export function limitExtensions(headers: HeaderList, passesCompression: boolean): HeaderList {
  if (!headers.includes(EXTENSIONS_FIELD)) return headers
  const offers = listOf(headers, EXTENSIONS_FIELD).filter((offer) => nameOf(offer) === DEFLATE)
  const kept = withoutField(headers, EXTENSIONS_FIELD)
  if (passesCompression && offers.length > 0) kept.push(EXTENSIONS_FIELD, offers.join(', '))
  return kept
}

/** The parameters that the target agreed to. */
export interface Agreement {
  readonly isCompressible: boolean
}

/**
 * Validates the fields of a 101 response against those of the request (RFC 6455 section 4.1). Returns null if they do
 * not match.
 */
export function agree(request: readonly string[], response: readonly string[]): Agreement | null {
  const connection = listOf(response, 'connection').join(',')
  if (onlyValue(response, 'upgrade')?.toLowerCase() !== 'websocket' || !listHasToken(connection, 'upgrade'))
    return null
  const key = onlyValue(request, KEY_FIELD)
  if (key === null || onlyValue(response, ACCEPT_FIELD) !== acceptOf(key)) return null
  const protocols = listOf(response, PROTOCOL_FIELD)
  const offered = listOf(request, PROTOCOL_FIELD)
  if (protocols.length > 1 || !protocols.every((protocol) => offered.includes(protocol))) return null
  const extensions = listOf(response, EXTENSIONS_FIELD)
  const isOffered = listOf(request, EXTENSIONS_FIELD).length > 0
  if (extensions.length > 1 || !extensions.every((name) => isOffered && nameOf(name) === DEFLATE)) return null
  return { isCompressible: extensions.length > 0 }
}

/** Computes Sec-WebSocket-Accept for a key. */
export function acceptOf(key: string): string {
  return createHash('sha1')
    .update(key + GUID)
    .digest('base64')
}

/** Returns the fields of a 101 response for the client. The engine adds Sec-WebSocket-Accept itself. */
export function forwardedSwitchFields(fields: readonly string[]): string[] {
  return withoutField(fields, ACCEPT_FIELD)
}

/** Returns the Sec-WebSocket-Key of a request, or an empty string. */
export function keyOf(headers: readonly string[]): string {
  return onlyValue(headers, KEY_FIELD) ?? ''
}

/** Returns the value of a field that occurs exactly once, or null. */
function onlyValue(headers: readonly string[], name: string): string | null {
  let value: string | null = null
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== name) continue
    if (value !== null) return null
    value = headers[i + 1]!
  }
  return value
}

function listOf(headers: readonly string[], name: string): string[] {
  const elements: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === name) elements.push(...headers[i + 1]!.split(','))
  }
  return elements.map((element) => element.trim()).filter((element) => element !== '')
}

function nameOf(extension: string): string {
  return extension.split(';', 1)[0]!.trim().toLowerCase()
}

function withoutField(headers: readonly string[], name: string): string[] {
  const kept: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== name) kept.push(headers[i]!, headers[i + 1]!)
  }
  return kept
}
