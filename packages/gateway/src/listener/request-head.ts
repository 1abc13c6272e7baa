import {
  contentLengthOf,
  type Exchange,
  internalized,
  isFieldValue,
  isToken,
  KnownFields,
  listHasToken,
  type Reply,
  refusal,
} from '@sluice/core'
import type { ListenerSettings } from './listener.js'

const REPLIES = {
  method: refusal('GW_BAD_REQUEST', 'the request method is not a token'),
  unsupported: refusal('GW_METHOD_NOT_SUPPORTED', 'TRACE and CONNECT are not served'),
  fields: refusal(
    'GW_BAD_REQUEST',
    'a header field has a name or value outside the ASCII grammar of RFC 9110',
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

/** End-to-end fields that came before and are valid: neither judged again, nor new texts to compare with others. */
const FIELDS = new KnownFields()

/**
 * Collects the header lines of one request and judges them. One is used for all requests of a listener in turn, so
 * that taking in a head allocates nothing but the list itself.
 *
 * End-to-end fields go to the exchange; framing, Host and hop-by-hop fields are looked at here and stay out of what is
 * forwarded, because the upstream connection is framed anew (RFC 9112 section 6, docs/limits.md).
 */
export class RequestHead {
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
  #isBad = false
  /** The Host field judged last, and the host in it: the next request's is mostly the same. */
  #knownAuthority: string | null = null
  #knownHost = ''

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
    this.#isBad = false
  }

  /** Takes one line. `name` is in lower case. */
  add(name: string, value: string): void {
    this.#lines++
    this.#bytes += name.length + value.length + 4
    const known = FIELDS.find(name, value)
    if (known >= 0) {
      this.#headers.push(FIELDS.names[known]!, FIELDS.values[known]!)
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
        this.#connection = this.#connection === '' ? value : this.#connection + ',' + value
        return
      // Answered here (expect) or meant for this connection only.
      case 'expect':
      case 'keep-alive':
      case 'proxy-connection':
      case 'proxy-authenticate':
      case 'proxy-authorization':
      case 'te':
      case 'trailer':
      case 'upgrade':
      case 'http2-settings':
        return
    }
    if (isToken(name) && isFieldValue(value)) FIELDS.learn(name, value)
    else this.#isBad = true
    this.#headers.push(name, value)
  }

  /** Of all lines as they came, with their ends. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether the client asked for the connection to be closed (RFC 9112 section 9.6). */
  get wantsClose(): boolean {
    return this.#connection !== '' && listHasToken(this.#connection, 'close')
  }

  /** Whether uWS takes the Connection field for "close": it only compares the length of the value. */
  get looksClosing(): boolean {
    return this.#connection.length === 5
  }

  /** Judges the head and fills the exchange; a reply means: refuse with it and close. */
  apply(x: Exchange, settings: ListenerSettings): Reply | null {
    x.headers = this.#headers
    if (this.#lines > settings.headers || this.#bytes > settings.headerBytes) return REPLIES.tooMany
    if (this.#isBad) return REPLIES.fields
    const refused = judgeMethod(x.method) ?? this.#applyFraming(x) ?? this.#applyHost(x)
    if (refused !== null) return refused
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
    if (this.#host !== this.#knownAuthority) {
      const end = hostEnd(this.#host)
      if (end < 0) return REPLIES.host
      this.#knownAuthority = internalized(this.#host)
      this.#knownHost = lowerCase(end === this.#host.length ? this.#host : this.#host.slice(0, end))
    }
    x.authority = this.#knownAuthority
    x.host = this.#knownHost
    return null
  }
}

function judgeMethod(method: string): Reply | null {
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
      return isToken(method) ? null : REPLIES.method
  }
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

/**
 * Where the host ends in a Host value (RFC 9110 section 7.2): the place of the ":" before the port, or the length.
 * -1 when the value is not `host`, `host:port`, `[v6]` or `[v6]:port`.
 */
function hostEnd(value: string): number {
  const first = value.charCodeAt(0)
  let end = 0
  if (first === 91 /* [ */) {
    end = value.indexOf(']') + 1
    if (end < 4 || !hasOnly(value, 1, end - 1, isIpv6Char)) return -1
  } else {
    while (end < value.length && value.charCodeAt(end) !== 58) end++
    if (end === 0 || !hasOnly(value, 0, end, isNameChar)) return -1
  }
  return isPort(value, end) ? end : -1
}

function isPort(value: string, at: number): boolean {
  if (at === value.length) return true
  const digits = value.length - at - 1
  return value.charCodeAt(at) === 58 && digits <= 5 && hasOnly(value, at + 1, value.length, isDigit)
}

function hasOnly(text: string, from: number, to: number, accepts: (code: number) => boolean): boolean {
  for (let i = from; i < to; i++) {
    if (!accepts(text.charCodeAt(i))) return false
  }
  return true
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

function isIpv6Char(code: number): boolean {
  return (
    (code >= 48 && code <= 58) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70) || code === 46
  )
}

function lowerCase(text: string): string {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 65 && code <= 90) return text.toLowerCase()
  }
  return text
}
