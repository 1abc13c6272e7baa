import { type ReceivedExchange, type Reply, refusal } from '@sluice/core'
import { isInvalidName } from '../../../protocol/http2/hpack-decoder.js'
import { readAuthority } from '../../authority.js'
import { applyClientAddress } from '../../client-address.js'
import type { ListenerSettings } from '../../listener.js'
import { RequestHead, refuseLargeHead } from '../../request-head.js'
import { applyTarget } from '../../request-target.js'

const HOSTS_DIFFER = refusal('GW_BAD_REQUEST', 'Host and :authority name different hosts')
const BAD_VALUE = refusal(
  'GW_BAD_REQUEST',
  'a header field value begins or ends with a space or control character',
)
const BAD_SCHEME = refusal('GW_BAD_REQUEST', ':scheme must be http or https')

/** Result for a malformed request, which is reset (RFC 9113 section 8.1.1). */
export const MALFORMED = refusal('GW_BAD_REQUEST', 'the request is malformed')

const METHOD = 1
const SCHEME = 2
const AUTHORITY = 4
const PATH = 8

/** Bytes of the head besides method, target and fields, as in HTTP/1.1: two spaces, version and line ends. */
const LINE_BYTES = 14

/**
 * Reads the fields of requests into exchanges. Malformed requests are those with invalid names, connection fields, `te`
 * other than `trailers`, or with pseudo-header fields that are unknown, incomplete, repeated or not first (RFC 9113
 * sections 8.2 and 8.3).
 */
export class RequestFields {
  readonly #head = new RequestHead()
  #scheme = ''
  #authority = ''
  #host = ''
  #target = ''
  #cookie = ''
  #crumbs = 0
  /** True if the request has a Content-Length. */
  hasLength = false
  /** Pseudo-header fields that were received. */
  #pseudo = 0
  #hasRegular = false
  #isMalformed = false
  #hasPadded = false

  /**
   * Fills the exchange. It is filled even if the request is refused, so that the log record is complete.
   * @param fields names and values in turn, as received.
   * @returns the refusal, MALFORMED, or null.
   */
  apply(
    x: ReceivedExchange,
    fields: readonly string[],
    hasBody: boolean,
    settings: ListenerSettings,
  ): Reply | null {
    this.#begin()
    for (let i = 0; i < fields.length; i += 2) this.#add(x, fields[i]!, fields[i + 1]!, settings)
    if (this.#isMalformed || !this.#isComplete(x.method)) return MALFORMED
    const head = this.#head
    if (this.#cookie !== '') head.add('cookie', this.#cookie)
    const authority = this.#authority === '' ? this.#host : this.#authority
    if (authority !== '') head.add('host', authority)
    x.requestHeadBytes = head.bytes + x.method.length + this.#target.length + LINE_BYTES
    const badHead = head.apply(x, settings)
    // The stream itself marks the end of the body, so Content-Length is optional.
    if (hasBody && !this.hasLength) x.contentLength = -1
    const badTarget = this.#applyTarget(x, settings)
    const badHop = applyClientAddress(x, settings)
    if (this.#hasPadded) return BAD_VALUE
    return badHead ?? this.#refuseOrigin() ?? badTarget ?? refuseLargeHead(x, settings) ?? badHop
  }

  /** True if the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  get waitsToContinue(): boolean {
    return this.#head.waitsToContinue
  }

  /**
   * Size of a Cookie joined from several fields. The client may have sent the parts once for many requests
   * (RFC 7541 section 2.3.2). 0 if there was only one field.
   */
  get crumbBytes(): number {
    return this.#crumbs > 1 ? this.#cookie.length : 0
  }

  #begin(): void {
    this.#head.begin()
    this.#scheme = ''
    this.#authority = ''
    this.#host = ''
    this.#target = ''
    this.#cookie = ''
    this.#crumbs = 0
    this.hasLength = false
    this.#pseudo = 0
    this.#hasRegular = false
    this.#isMalformed = false
    this.#hasPadded = false
  }

  #add(x: ReceivedExchange, name: string, value: string, { headerBytes }: ListenerSettings): void {
    const first = name.charCodeAt(0)
    if (first === COLON) {
      this.#addPseudo(x, name, value)
      return
    }
    this.#hasRegular = true
    if (isInvalidName(name)) this.#isMalformed = true
    if (isPadded(value)) this.#hasPadded = true
    switch (name) {
      case 'host':
        this.#host = this.#host === '' ? value : this.#host + ',' + value
        return
      // A client may send each pair in a separate field, which compresses better (RFC 9113 section 8.2.3).
      case 'cookie':
        // A cookie over the limit is refused later, so stop copying.
        if (this.#cookie.length > headerBytes) return
        this.#crumbs++
        this.#cookie = this.#cookie === '' ? value : this.#cookie + '; ' + value
        return
      case 'content-length':
        if (this.hasLength) this.#isMalformed = true
        this.hasLength = true
        break
      case 'te':
        if (value !== 'trailers') this.#isMalformed = true
        break
      case 'connection':
      case 'keep-alive':
      case 'proxy-connection':
      case 'transfer-encoding':
      case 'upgrade':
        this.#isMalformed = true
    }
    this.#head.add(name, value)
  }

  #addPseudo(x: ReceivedExchange, name: string, value: string): void {
    let field = 0
    if (name === ':method') {
      field = METHOD
      x.method = value
    } else if (name === ':scheme') {
      field = SCHEME
      this.#scheme = value
    } else if (name === ':authority') {
      field = AUTHORITY
      this.#authority = value
    } else if (name === ':path') {
      field = PATH
      this.#target = value
    }
    if (field === 0 || (this.#pseudo & field) !== 0 || this.#hasRegular) this.#isMalformed = true
    this.#pseudo |= field
  }

  /** Returns true if all pseudo-header fields are present. CONNECT, which is refused, has no scheme and no path. */
  #isComplete(method: string): boolean {
    const needed = method === 'CONNECT' ? METHOD : METHOD | SCHEME | PATH
    return (this.#pseudo & needed) === needed && (method === 'CONNECT' || this.#target !== '')
  }

  #applyTarget(x: ReceivedExchange, settings: ListenerSettings): Reply | null {
    const target = this.#target
    const end = target.indexOf('?')
    if (end < 0) return applyTarget(x, target, null, settings)
    return applyTarget(x, target.slice(0, end), target.slice(end + 1), settings)
  }

  /**
   * Validates scheme and host. A TLS proxy in front may send `https` over a plain connection, so both schemes are
   * accepted.
   */
  #refuseOrigin(): Reply | null {
    if (this.#scheme !== 'https' && this.#scheme !== 'http') return BAD_SCHEME
    if (this.#host === '' || this.#authority === '' || this.#host === this.#authority) return null
    const host = readAuthority(this.#host)?.text.toLowerCase()
    return host === readAuthority(this.#authority)?.text.toLowerCase() ? null : HOSTS_DIFFER
  }
}

const COLON = 0x3a

/** Returns true if the fields can be trailers: valid names, and no pseudo-header fields (RFC 9113 section 8.1). */
export function areTrailers(fields: readonly string[]): boolean {
  for (let i = 0; i < fields.length; i += 2)
    if (isInvalidName(fields[i]!) || fields[i]!.charCodeAt(0) === COLON) return false
  return true
}

/** Returns true if a value begins or ends with a space or another control character (RFC 9113 section 8.2.1). */
function isPadded(value: string): boolean {
  return value !== '' && (value.charCodeAt(0) <= 0x20 || value.charCodeAt(value.length - 1) <= 0x20)
}
