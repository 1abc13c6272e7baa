import { contentLengthOf, listHasToken } from '@sluice/core'

/** Body framing and connection options of a response head. */
export interface ResponseFraming {
  /** Content-Length, or -1 if absent. */
  readonly length: number
  readonly isChunked: boolean
  /** True if the connection may serve another request, according to the head. */
  readonly keepsConnection: boolean
  /** Value of Keep-Alive, or empty. */
  readonly keepAlive: string
}

/**
 * Returns the body framing, or null if the fields conflict or name an unsupported coding. Repeated equal lengths are
 * accepted (RFC 9110 section 8.6).
 */
export function framingOf(fields: readonly string[], minor: number): ResponseFraming | null {
  let length = -1
  let codings = 0
  let connection = ''
  let keepAlive = ''
  for (let i = 0; i < fields.length; i += 2) {
    const value = fields[i + 1]!
    switch (fields[i]) {
      case 'content-length':
        if (length >= 0 && contentLengthOf(value) !== length) return null
        length = contentLengthOf(value)
        if (length < 0) return null
        break
      case 'transfer-encoding':
        if (!isChunkedCoding(value)) return null
        codings++
        break
      case 'connection':
        connection = connection === '' ? value : connection + ',' + value
        break
      case 'keep-alive':
        keepAlive = value
    }
  }
  if (codings > 1 || (codings > 0 && length >= 0)) return null
  const isChunked = codings > 0
  return { length, isChunked, keepsConnection: isKept(connection, minor, isChunked), keepAlive }
}

/** Any other coding would have to be decoded or forwarded by name, which the client side cannot do. */
function isChunkedCoding(value: string): boolean {
  return value === 'chunked' || value.toLowerCase() === 'chunked'
}

/**
 * Returns true if the connection persists (RFC 9112 section 9.3). HTTP/1.0 has no chunked coding, so a server that uses
 * it is not trusted with another request.
 */
function isKept(connection: string, minor: number, isChunkedBody: boolean): boolean {
  if (connection === '' || connection === 'keep-alive')
    return minor === 1 || (connection !== '' && !isChunkedBody)
  if (listHasToken(connection, 'close')) return false
  return minor === 1 || (listHasToken(connection, 'keep-alive') && !isChunkedBody)
}
