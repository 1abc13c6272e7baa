import { isContentLength, listHasToken } from '@sluice/core'

/** What a response head says of its body and of its connection. */
export class ResponseFraming {
  /** Content-Length; -1 without one. */
  length = -1
  isChunked = false
  /** The connection may serve another request, as far as the head says. */
  keepsConnection = true
  /** The value of Keep-Alive; empty without one. */
  keepAlive = ''

  /** Reads the fields; false: they contradict each other or name a coding that is not ours. */
  read(fields: readonly string[], minor: number): boolean {
    let lengths = 0
    let codings = 0
    let connection = ''
    this.length = -1
    this.isChunked = false
    this.keepAlive = ''
    for (let i = 0; i < fields.length; i += 2) {
      switch (fields[i]) {
        case 'content-length':
          if (!isContentLength(fields[i + 1]!)) return false
          this.length = Number(fields[i + 1])
          lengths++
          break
        case 'transfer-encoding':
          if (!isChunked(fields[i + 1]!)) return false
          codings++
          break
        case 'connection':
          connection = connection === '' ? fields[i + 1]! : connection + ',' + fields[i + 1]!
          break
        case 'keep-alive':
          this.keepAlive = fields[i + 1]!
      }
    }
    this.isChunked = codings > 0
    this.keepsConnection = isKept(connection, minor, this.isChunked)
    return lengths + codings <= 1
  }
}

/** A second coding would have to be undone, or passed on by its name, which the client's side cannot do. */
function isChunked(value: string): boolean {
  return value === 'chunked' || value.toLowerCase() === 'chunked'
}

/** RFC 9112 section 9.3; HTTP/1.0 knows no chunks, so a server that mixes them is not trusted with another request. */
function isKept(connection: string, minor: number, isChunkedBody: boolean): boolean {
  if (connection === '' || connection === 'keep-alive')
    return minor === 1 || (connection !== '' && !isChunkedBody)
  if (listHasToken(connection, 'close')) return false
  return minor === 1 || (listHasToken(connection, 'keep-alive') && !isChunkedBody)
}
