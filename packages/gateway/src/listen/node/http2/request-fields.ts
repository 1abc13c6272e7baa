import { type ReceivedExchange, type Reply, refusal } from '@sluice/core'
import { readAuthority } from '../../authority.js'
import { applyClientAddress } from '../../client-address.js'
import type { ListenerSettings } from '../../listener.js'
import { RequestHead, refuseLargeHead } from '../../request-head.js'
import { applyTarget } from '../../request-target.js'

const HOSTS_DIFFER = refusal('GW_BAD_REQUEST', 'Host and :authority name different hosts')
const BAD_SCHEME = refusal('GW_BAD_REQUEST', ':scheme must be http or https')

/** Bytes of the head besides method, target and fields, as in HTTP/1.1: two spaces, version and line ends. */
const LINE_BYTES = 14

/**
 * Reads the fields of requests into exchanges. nghttp2 has already reset streams with malformed fields (RFC 9113
 * sections 8.2 and 8.3): upper-case names, connection fields, and `te` other than `trailers`. It has also checked that
 * pseudo-header fields are known, complete, unique and first, and that Content-Length is a number.
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
   * Fills the exchange. It is filled even if the request is refused, so that the log record is complete.
   * @param fields names and values in turn, as received.
   * @returns the refusal, or null.
   */
  apply(
    x: ReceivedExchange,
    fields: readonly string[],
    hasBody: boolean,
    settings: ListenerSettings,
  ): Reply | null {
    this.#begin()
    for (let i = 0; i < fields.length; i += 2) this.#add(x, fields[i]!, fields[i + 1]!, settings)
    const head = this.#head
    if (this.#cookie !== '') head.add('cookie', this.#cookie)
    const authority = this.#authority === '' ? this.#host : this.#authority
    if (authority !== '') head.add('host', authority)
    x.requestHeadBytes = head.bytes + x.method.length + this.#target.length + LINE_BYTES
    const badHead = head.apply(x, settings)
    // The stream itself marks the end of the body, so Content-Length is optional.
    if (hasBody && !this.#hasLength) x.contentLength = -1
    const badTarget = this.#applyTarget(x, settings)
    const badHop = applyClientAddress(x, settings)
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
    this.#hasLength = false
  }

  #add(x: ReceivedExchange, name: string, value: string, { headerBytes }: ListenerSettings): void {
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
      // A client may send each pair in a separate field, which compresses better (RFC 9113 section 8.2.3).
      case 'cookie':
        // A cookie over the limit is refused later, so stop copying.
        if (this.#cookie.length > headerBytes) return
        this.#crumbs++
        this.#cookie = this.#cookie === '' ? value : this.#cookie + '; ' + value
        return
      case 'content-length':
        this.#hasLength = true
    }
    this.#head.add(name, value)
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
