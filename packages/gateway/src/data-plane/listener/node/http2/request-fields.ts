import { type Exchange, type Reply, refusal } from '@sluice/core'
import { readAuthority } from '../../authority.js'
import { applyClientAddress } from '../../client-address.js'
import type { ListenerSettings } from '../../listener.js'
import { RequestHead, refuseLargeHead } from '../../request-head.js'
import { applyTarget } from '../../request-target.js'

const HOSTS_DIFFER = refusal('GW_BAD_REQUEST', 'Host and :authority name different hosts')
const BAD_SCHEME = refusal('GW_BAD_REQUEST', ':scheme is neither http nor https')

/** Of a request head beside method, target and field lines, as HTTP/1.1 would have it: two spaces, version, line ends. */
const LINE_BYTES = 14

/**
 * Reads the fields of requests into exchanges, one after the other. What nghttp2 has already reset as malformed does not
 * come this far: names in upper case, connection fields, `te` other than `trailers`, pseudo-header fields that are
 * unknown, repeated, missing or late, a Content-Length that is no number (RFC 9113 sections 8.2 and 8.3).
 */
export class RequestFields {
  readonly #head = new RequestHead()
  #scheme = ''
  #authority = ''
  #host = ''
  #target = ''
  #cookie = ''
  #crumbs = 0
  #hasLength = false

  /**
   * Fills the exchange, all of it also where something is refused: its record shows what is known.
   * @param fields names and values in turn, as they came.
   * @returns what to refuse the request with.
   */
  apply(x: Exchange, fields: readonly string[], hasBody: boolean, settings: ListenerSettings): Reply | null {
    this.#begin()
    for (let i = 0; i < fields.length; i += 2) this.#add(x, fields[i]!, fields[i + 1]!, settings)
    const head = this.#head
    if (this.#cookie !== '') head.add('cookie', this.#cookie)
    const authority = this.#authority === '' ? this.#host : this.#authority
    if (authority !== '') head.add('host', authority)
    x.requestHeadBytes = head.bytes + x.method.length + this.#target.length + LINE_BYTES
    const badHead = head.apply(x, settings)
    // A stream ends by itself: a body needs no announcement.
    if (hasBody && !this.#hasLength) x.contentLength = -1
    const badTarget = this.#applyTarget(x, settings)
    const badHop = applyClientAddress(x, settings)
    return badHead ?? this.#refuseOrigin() ?? badTarget ?? refuseLargeHead(x, settings) ?? badHop
  }

  /** Whether the client waits for 100 before it sends the body (RFC 9110 section 10.1.1). */
  get waitsToContinue(): boolean {
    return this.#head.waitsToContinue
  }

  /** Of a cookie that came in several fields: a copy, of what a client may have sent once for many (RFC 7541 section 2.3.2). */
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
    this.#hasLength = false
  }

  #add(x: Exchange, name: string, value: string, { headerBytes }: ListenerSettings): void {
    switch (name) {
      case ':method':
        x.method = value
        return
      case ':scheme':
        this.#scheme = value
        return
      case ':authority':
        this.#authority = value
        return
      case ':path':
        this.#target = value
        return
      case 'host':
        this.#host = this.#host === '' ? value : this.#host + ',' + value
        return
      // A client may send each pair in a field of its own, which compresses better (RFC 9113 section 8.2.3).
      case 'cookie':
        // What is too large is refused; no more of it is copied.
        if (this.#cookie.length > headerBytes) return
        this.#crumbs++
        this.#cookie = this.#cookie === '' ? value : this.#cookie + '; ' + value
        return
      case 'content-length':
        this.#hasLength = true
    }
    this.#head.add(name, value)
  }

  #applyTarget(x: Exchange, settings: ListenerSettings): Reply | null {
    const target = this.#target
    const end = target.indexOf('?')
    if (end < 0) return applyTarget(x, target, null, settings)
    return applyTarget(x, target.slice(0, end), target.slice(end + 1), settings)
  }

  /** A TLS proxy in front speaks of `https` over a plain connection: which of the two it is says nothing. */
  #refuseOrigin(): Reply | null {
    if (this.#scheme !== 'https' && this.#scheme !== 'http') return BAD_SCHEME
    if (this.#host === '' || this.#authority === '' || this.#host === this.#authority) return null
    const host = readAuthority(this.#host)?.text.toLowerCase()
    return host === readAuthority(this.#authority)?.text.toLowerCase() ? null : HOSTS_DIFFER
  }
}
