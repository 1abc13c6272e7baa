import {
  contentLengthOf,
  type Exchange,
  HeaderCache,
  internString,
  isFieldValue,
  isMessageLookalike,
  isToken,
  listHasToken,
  type Reply,
  refusal,
  trimOws,
} from '@sluice/core'
import { consistsOf, VALUE_BYTES } from '../http1/byte-classes.js'
import { readAuthority } from './authority.js'
import type { ListenerSettings } from './listener.js'

const REPLIES = {
  method: refusal('GW_BAD_REQUEST', 'the request method is not a token, or too long'),
  unsupported: refusal('GW_METHOD_NOT_SUPPORTED', 'TRACE and CONNECT are not served'),
  lowerCase: refusal('GW_METHOD_NOT_SUPPORTED', 'methods are case-sensitive, and written in upper case'),
  upgrade: refusal('GW_UPGRADE_NOT_SUPPORTED', 'this gateway does not switch to the protocol of Upgrade'),
  closing: refusal(
    'GW_BAD_REQUEST',
    'a connection that is to be closed cannot switch to the protocol of Upgrade',
  ),
  expectation: refusal('GW_EXPECTATION_FAILED', 'the only expectation that is met is 100-continue'),
  fields: refusal(
    'GW_BAD_REQUEST',
    'a header field has a name or value that this listener does not accept (RFC 9110 section 5)',
  ),
  length: refusal('GW_BAD_REQUEST', 'Content-Length is not valid or differs between its lines'),
  framing: refusal('GW_BAD_REQUEST', 'Content-Length and Transfer-Encoding stand side by side'),
  coding: refusal('GW_CODING_NOT_SUPPORTED', 'the only transfer coding accepted is a single "chunked"'),
  host: refusal('GW_BAD_REQUEST', 'exactly one valid Host field is needed'),
  tooMany: refusal(
    'GW_HEADERS_TOO_LARGE',
    'there are more or longer header fields than this listener accepts',
  ),
} as const

/** Longest method that is logged of a request that is refused for it. */
const MAX_METHOD = 64

/**
 * End-to-end fields that came before and are valid: neither checked again, nor new texts to compare with others. A byte
 * from 0x80 on is a part of its value (RFC 9110 section 5.5), and one character.
 */
const FIELDS = new HeaderCache((name, value) =>
  isToken(name) && consistsOf(value, VALUE_BYTES) ? value : null,
)
/** The same for an engine that does not show the bytes from 0x80 on as they came. */
export const ASCII_FIELDS = new HeaderCache((name, value) =>
  isToken(name) && isFieldValue(value) ? value : null,
)

/**
 * Collects the header lines of one request and checks them. One is used for all requests of a listener in turn, so
 * that taking in a head allocates nothing but the list itself.
 *
 * End-to-end fields go to the exchange; framing, Host and hop-by-hop fields are looked at here and stay out of what is
 * forwarded, because the upstream connection has its own framing (RFC 9112 section 6, docs/reference/limits.md).
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
  /** The Host field checked last, and what it means: the next request's is mostly the same. */
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

  /** Takes one line. `name` is in lower case. */
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
      // Meant for this connection only.
      case 'keep-alive':
      case 'proxy-connection':
      case 'proxy-authenticate':
      case 'proxy-authorization':
      case 'trailer':
      case 'http2-settings':
        return
    }
    // A target might take it for one of those above, or for what the gateway itself writes.
    if (isMessageLookalike(name)) return
    if (this.#fields.line(name, value) === null) this.#isBad = true
    this.#headers.push(name, value)
  }

  /** Of all lines as they came, with their ends. */
  get bytes(): number {
    return this.#bytes
  }

  /** True if the head says how long the body is. */
  get isFramed(): boolean {
    return this.#lengths + this.#codings > 0
  }

  /** Whether the client asked for the connection to be closed (RFC 9112 section 9.6). */
  get wantsClose(): boolean {
    return this.#connection !== '' && listHasToken(this.#connection, 'close')
  }

  /** Whether the client of HTTP/1.0 asked for the connection to be kept. */
  get wantsKeepAlive(): boolean {
    return this.#connection !== '' && listHasToken(this.#connection, 'keep-alive')
  }

  /** Whether the client reads trailers (RFC 9110 section 10.1.4). */
  get takesTrailers(): boolean {
    return this.#te !== '' && listHasToken(this.#te, 'trailers')
  }

  /** Whether the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  get waitsToContinue(): boolean {
    return this.#expect !== '' && this.#expect.toLowerCase() === '100-continue'
  }

  /** Whether the client asks to switch to the WebSocket protocol. */
  get asksForWebSocket(): boolean {
    if (this.#upgrade === '' || !listHasToken(this.#connection, 'upgrade')) return false
    return protocolsOf(this.#upgrade).includes('websocket')
  }

  /** Whether uWS takes the Connection field for "close": it only looks at the length of the first one's value. */
  get looksClosing(): boolean {
    return this.#firstConnectionLength === 5
  }

  /** Checks the head and fills the exchange; a reply means: refuse with it and close. */
  apply(x: Exchange, settings: ListenerSettings): Reply | null {
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
    // uWS would close such a connection while it becomes a WebSocket, and go on with what it has freed.
    if (this.asksForWebSocket && (this.wantsClose || this.looksClosing)) return REPLIES.closing
    if (this.#connection !== '') removeNominated(x, this.#connection)
    return null
  }

  #applyFraming(x: Exchange): Reply | null {
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

  #applyHost(x: Exchange): Reply | null {
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

/** Refuses a head that is too large as a whole, though its target and its fields are not. */
export function refuseLargeHead(x: Exchange, { headerBytes }: ListenerSettings): Reply | null {
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

/** A route that takes POST would not see "post", and many servers take it for the same (RFC 9110 section 9.1). */
function hasLowerCase(method: string): boolean {
  for (let i = 0; i < method.length; i++) {
    const code = method.charCodeAt(i)
    if (code >= 97 && code <= 122) return true
  }
  return false
}

/** Upgrades that a client only offers: it goes on with HTTP/1.1 when they are ignored (RFC 9110 section 7.8). */
const OFFERED = new Set(['h2c', 'h2', 'http', 'tls'])

/** Whether the client cannot use an answer over HTTP/1.1: it asks for a WebSocket, or for a protocol that is none of HTTP. */
function needsUpgrade(upgrade: string, connection: string): boolean {
  const names = protocolsOf(upgrade)
  if (names.includes('websocket')) return true
  return listHasToken(connection, 'upgrade') && !names.every((name) => name === '' || OFFERED.has(name))
}

/** The names in an Upgrade field, without versions. */
function protocolsOf(upgrade: string): string[] {
  return upgrade
    .toLowerCase()
    .split(',')
    .map((protocol) => trimOws(protocol).split('/')[0]!)
}

function isChunked(coding: string): boolean {
  return coding === 'chunked' || coding.toLowerCase() === 'chunked'
}

/** Fields that a Connection option must never remove, because removing them changes what the request means. */
const KEPT = new Set([
  'authorization',
  'cookie',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'forwarded',
])

/** Removes the fields that the client nominated as hop-by-hop (RFC 9110 section 7.6.1). */
function removeNominated(x: Exchange, connection: string): void {
  if (connection === 'keep-alive' || connection === 'close') return
  const kept: string[] = []
  for (let i = 0; i < x.headers.length; i += 2) {
    const name = x.headers[i]!
    if (KEPT.has(name) || !listHasToken(connection, name)) kept.push(name, x.headers[i + 1]!)
  }
  x.headers = kept
}
