import {
  contentLengthOf,
  HeaderCache,
  internString,
  isFieldValue,
  isMessageLookalike,
  isToken,
  listHasToken,
  type ReceivedExchange,
  type Reply,
  refusal,
  trimOws,
} from '@sluice/core'
import { consistsOf, VALUE_BYTES } from '../protocol/http1/byte-classes.js'
import { readAuthority } from './authority.js'
import type { ListenerSettings } from './listener.js'

const REPLIES = {
  method: refusal('GW_BAD_REQUEST', 'the request method is not a token, or too long'),
  unsupported: refusal('GW_METHOD_NOT_SUPPORTED', 'TRACE and CONNECT are not supported'),
  lowerCase: refusal('GW_METHOD_NOT_SUPPORTED', 'methods are case-sensitive: use upper case'),
  upgrade: refusal(
    'GW_UPGRADE_NOT_SUPPORTED',
    'this gateway does not support the protocol in the Upgrade header',
  ),
  closing: refusal('GW_BAD_REQUEST', 'Upgrade and "Connection: close" cannot be combined'),
  expectation: refusal('GW_EXPECTATION_FAILED', 'the only supported expectation is 100-continue'),
  fields: refusal(
    'GW_BAD_REQUEST',
    'a header field has a name or value that this listener does not accept (RFC 9110 section 5)',
  ),
  length: refusal('GW_BAD_REQUEST', 'Content-Length is not valid or differs between its lines'),
  framing: refusal('GW_BAD_REQUEST', 'Content-Length and Transfer-Encoding are both present'),
  coding: refusal('GW_CODING_NOT_SUPPORTED', 'the only transfer coding accepted is a single "chunked"'),
  host: refusal('GW_BAD_REQUEST', 'exactly one valid Host header is required'),
  tooMany: refusal('GW_HEADERS_TOO_LARGE', 'the header fields exceed the limits of this listener'),
} as const

/** Maximum length of a method in the log record of its refusal. */
const MAX_METHOD = 64

/**
 * Cache of valid end-to-end fields, which need no further validation or string comparison. Bytes from 0x80 on are part
 * of a value (RFC 9110 section 5.5), as one character each.
 */
const FIELDS = new HeaderCache((name, value) =>
  isToken(name) && consistsOf(value, VALUE_BYTES) ? value : null,
)
/** The same cache for an engine that does not deliver bytes from 0x80 on unchanged. */
export const ASCII_FIELDS = new HeaderCache((name, value) =>
  isToken(name) && isFieldValue(value) ? value : null,
)

/**
 * Collects and validates the header lines of one request. A listener reuses one instance for all requests, so that
 * reading a head allocates nothing but the list.
 *
 * End-to-end fields go to the exchange. Framing, Host and hop-by-hop fields are processed here and not forwarded,
 * because the upstream connection has its own framing (RFC 9112 section 6).
 */
export class RequestHead {
  readonly #fields: HeaderCache
  #headers: string[] = []
  #bytes = 0
  #lines = 0
  #hosts = 0
  #host = ''
  #lengths = 0
  #length = ''
  #isLengthMixed = false
  #codings = 0
  #coding = ''
  #connection = ''
  #firstConnectionLength = 0
  #upgrade = ''
  #expect = ''
  #te = ''
  #isBad = false
  /** The last Host field checked, with its result. The next request usually has the same one. */
  #knownField: string | null = null
  #knownAuthority = ''
  #knownHost = ''

  constructor(fields: HeaderCache = FIELDS) {
    this.#fields = fields
  }

  begin(): void {
    this.#headers = []
    this.#bytes = 0
    this.#lines = 0
    this.#hosts = 0
    this.#host = ''
    this.#lengths = 0
    this.#length = ''
    this.#isLengthMixed = false
    this.#codings = 0
    this.#coding = ''
    this.#connection = ''
    this.#firstConnectionLength = 0
    this.#upgrade = ''
    this.#expect = ''
    this.#te = ''
    this.#isBad = false
  }

  /** Adds one line. @param name in lower case. */
  add(name: string, value: string): void {
    this.#lines++
    this.#bytes += name.length + value.length + 4
    const cached = this.#fields.find(name, value)
    if (cached !== null) {
      this.#headers.push(cached.name, cached.value)
      return
    }
    switch (name) {
      case 'host':
        this.#hosts++
        this.#host = value
        return
      case 'content-length':
        if (this.#lengths++ > 0 && value !== this.#length) this.#isLengthMixed = true
        this.#length = value
        return
      case 'transfer-encoding':
        this.#codings++
        this.#coding = value
        return
      case 'connection':
        if (this.#connection === '') this.#firstConnectionLength = value.length
        this.#connection = this.#connection === '' ? value : this.#connection + ',' + value
        return
      case 'upgrade':
        this.#upgrade = this.#upgrade === '' ? value : this.#upgrade + ',' + value
        return
      case 'te':
        this.#te = this.#te === '' ? value : this.#te + ',' + value
        return
      case 'expect':
        this.#expect = this.#expect === '' ? value : this.#expect + ',' + value
        return
      // Hop-by-hop fields.
      case 'keep-alive':
      case 'proxy-connection':
      case 'proxy-authenticate':
      case 'proxy-authorization':
      case 'trailer':
      case 'http2-settings':
        return
    }
    // A target might mistake it for one of those above, or for a field that the gateway sets.
    if (isMessageLookalike(name)) return
    if (this.#fields.line(name, value) === null) this.#isBad = true
    this.#headers.push(name, value)
  }

  /** Size of all lines as received, including line ends. */
  get bytes(): number {
    return this.#bytes
  }

  /** True if the head declares the length of the body. */
  get isFramed(): boolean {
    return this.#lengths + this.#codings > 0
  }

  /** True if the client asked to close the connection (RFC 9112 section 9.6). */
  get wantsClose(): boolean {
    return this.#connection !== '' && listHasToken(this.#connection, 'close')
  }

  /** True if an HTTP/1.0 client asked to keep the connection. */
  get wantsKeepAlive(): boolean {
    return this.#connection !== '' && listHasToken(this.#connection, 'keep-alive')
  }

  /** True if the client accepts trailers (RFC 9110 section 10.1.4). */
  get takesTrailers(): boolean {
    return this.#te !== '' && listHasToken(this.#te, 'trailers')
  }

  /** True if the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  get waitsToContinue(): boolean {
    return this.#expect !== '' && this.#expect.toLowerCase() === '100-continue'
  }

  /** True if the client asks for an upgrade to WebSocket. */
  get asksForWebSocket(): boolean {
    if (this.#upgrade === '' || !listHasToken(this.#connection, 'upgrade')) return false
    return protocolsOf(this.#upgrade).includes('websocket')
  }

  /** True if uWS takes the Connection field for "close". It looks only at the length of the first value. */
  get looksClosing(): boolean {
    return this.#firstConnectionLength === 5
  }

  /** Validates the head and fills the exchange. Returns a refusal, or null. A refused request closes its connection. */
  apply(x: ReceivedExchange, settings: ListenerSettings): Reply | null {
    x.headers = this.#headers
    if (this.#lines > settings.headers || this.#bytes > settings.headerBytes) return REPLIES.tooMany
    if (this.#isBad) return REPLIES.fields
    if (x.method.length > MAX_METHOD) {
      x.method = x.method.slice(0, MAX_METHOD)
      return REPLIES.method
    }
    const refused = checkMethod(x.method) ?? this.#applyFraming(x) ?? this.#applyHost(x)
    if (refused !== null) return refused
    if (this.#expect !== '' && !this.waitsToContinue) return REPLIES.expectation
    if (this.#upgrade !== '' && !this.asksForWebSocket && needsUpgrade(this.#upgrade, this.#connection))
      return REPLIES.upgrade
    // uWS would close such a connection during the upgrade, and then use freed memory.
    if (this.asksForWebSocket && (this.wantsClose || this.looksClosing)) return REPLIES.closing
    if (this.#connection !== '') removeNominated(x, this.#connection)
    return null
  }

  #applyFraming(x: ReceivedExchange): Reply | null {
    if (this.#codings > 0) {
      if (this.#codings > 1 || !isChunked(this.#coding)) return REPLIES.coding
      if (this.#lengths > 0) return REPLIES.framing
      x.contentLength = -1
      return null
    }
    if (this.#lengths === 0) return null
    const length = contentLengthOf(this.#length)
    if (this.#isLengthMixed || length < 0) return REPLIES.length
    x.contentLength = length
    return null
  }

  #applyHost(x: ReceivedExchange): Reply | null {
    if (this.#hosts !== 1) return REPLIES.host
    if (this.#host !== this.#knownField) {
      const authority = readAuthority(this.#host)
      if (authority === null) return REPLIES.host
      this.#knownField = internString(this.#host)
      this.#knownAuthority = internString(authority.text)
      this.#knownHost = authority.host
    }
    x.authority = this.#knownAuthority
    x.host = this.#knownHost
    return null
  }
}

/** Refuses a head that is too large in total, although target and fields are within their limits. */
export function refuseLargeHead(x: ReceivedExchange, { headerBytes }: ListenerSettings): Reply | null {
  return x.requestHeadBytes > headerBytes ? REPLIES.tooMany : null
}

function checkMethod(method: string): Reply | null {
  switch (method) {
    case 'GET':
    case 'POST':
    case 'PUT':
    case 'DELETE':
    case 'HEAD':
    case 'OPTIONS':
    case 'PATCH':
      return null
    case 'TRACE':
    case 'CONNECT':
      return REPLIES.unsupported
    default:
      if (!isToken(method)) return REPLIES.method
      return hasLowerCase(method) ? REPLIES.lowerCase : null
  }
}

/**
 * Refuses methods with lower-case letters. A route for POST would not match "post", but many servers treat both alike
 * (RFC 9110 section 9.1).
 */
function hasLowerCase(method: string): boolean {
  for (let i = 0; i < method.length; i++) {
    const code = method.charCodeAt(i)
    if (code >= 97 && code <= 122) return true
  }
  return false
}

/** Optional upgrades: if they are ignored, the client continues with HTTP/1.1 (RFC 9110 section 7.8). */
const OFFERED = new Set(['h2c', 'h2', 'http', 'tls'])

/**
 * Returns true if the client cannot use an HTTP/1.1 response: it asks for WebSocket or for a protocol other than HTTP.
 */
function needsUpgrade(upgrade: string, connection: string): boolean {
  const names = protocolsOf(upgrade)
  if (names.includes('websocket')) return true
  return listHasToken(connection, 'upgrade') && !names.every((name) => name === '' || OFFERED.has(name))
}

/** Returns the protocol names in an Upgrade field, without versions. */
function protocolsOf(upgrade: string): string[] {
  return upgrade
    .toLowerCase()
    .split(',')
    .map((protocol) => trimOws(protocol).split('/')[0]!)
}

function isChunked(coding: string): boolean {
  return coding === 'chunked' || coding.toLowerCase() === 'chunked'
}

/** Fields that a Connection option must never remove, because that would change the meaning of the request. */
const PROTECTED_FIELDS = new Set([
  'authorization',
  'cookie',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'forwarded',
])

/** Removes the fields that the client declared hop-by-hop (RFC 9110 section 7.6.1). */
function removeNominated(x: ReceivedExchange, connection: string): void {
  if (connection === 'keep-alive' || connection === 'close') return
  const kept: string[] = []
  for (let i = 0; i < x.headers.length; i += 2) {
    const name = x.headers[i]!
    if (PROTECTED_FIELDS.has(name) || !listHasToken(connection, name)) kept.push(name, x.headers[i + 1]!)
  }
  x.headers = kept
}
