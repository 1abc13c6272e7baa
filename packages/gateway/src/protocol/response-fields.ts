import { contentLengthOf, listHasToken } from '@sluice/core'

/**
 * Removes connection fields, framing, Date and X-Request-Id from a response's fields, in place. Returns the
 * Content-Length, or -1. The listener frames the response again and adds a new Date.
 */
export function takeFraming(headers: string[]): number {
  let length = -1
  let kept = 0
  let connection = ''
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    const value = headers[i + 1]!
    if (name === 'content-length') {
      length = contentLengthOf(value)
      continue
    }
    if (name === 'connection') {
      connection = connection === '' ? value : connection + ',' + value
      continue
    }
    if (NOT_FORWARDED.has(name)) continue
    headers[kept] = name
    headers[kept + 1] = value
    kept += 2
  }
  headers.length = kept
  if (connection !== '' && connection !== 'keep-alive' && connection !== 'close')
    removeNominated(headers, connection)
  return length
}

/** Returns the trailers to forward, or null. Framing and fields that must precede the body are dropped. */
export function forwardableTrailers(trailers: readonly string[]): readonly string[] | null {
  const passed: string[] = []
  for (let i = 0; i < trailers.length; i += 2) {
    const name = trailers[i]!
    if (!NOT_FORWARDED.has(name) && !HEAD_ONLY_FIELDS.has(name)) passed.push(name, trailers[i + 1]!)
  }
  return passed.length > 0 ? passed : null
}

/** Fields that have no meaning after a body, or that a recipient might still act on (RFC 9110 section 6.5.1). */
const HEAD_ONLY_FIELDS: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'cookie',
  'expect',
  'host',
  'location',
  'proxy-authorization',
  'set-cookie',
])

/** Fields that are not forwarded, besides Content-Length and Connection. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  'date',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
])

/** Removes the fields that the upstream declared hop-by-hop (RFC 9110 section 7.6.1). */
function removeNominated(headers: string[], connection: string): void {
  let kept = 0
  for (let i = 0; i < headers.length; i += 2) {
    if (listHasToken(connection, headers[i]!)) continue
    headers[kept] = headers[i]!
    headers[kept + 1] = headers[i + 1]!
    kept += 2
  }
  headers.length = kept
}
