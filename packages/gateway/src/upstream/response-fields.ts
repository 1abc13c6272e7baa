import { contentLengthOf, listHasToken } from '@sluice/core'

/**
 * Takes connection fields, framing, Date and X-Request-Id out of an upstream's response fields, in place, and answers
 * with the announced length: -1 when there is none. The listener frames the response anew and adds its own Date.
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
    if (isReplaced(name)) continue
    headers[kept] = name
    headers[kept + 1] = value
    kept += 2
  }
  cut(headers, kept)
  if (connection !== '' && connection !== 'keep-alive' && connection !== 'close')
    removeNominated(headers, connection)
  return length
}

/** Whether a field ends at the gateway. Most names are told by their length alone. */
function isReplaced(name: string): boolean {
  switch (name.length) {
    case 2:
      return name === 'te'
    case 4:
      return name === 'date'
    case 7:
      return name === 'trailer' || name === 'upgrade'
    case 10:
      return name === 'keep-alive'
    case 12:
      return name === 'x-request-id'
    case 16:
      return name === 'proxy-connection'
    case 17:
      return name === 'transfer-encoding'
    case 18:
      return name === 'proxy-authenticate'
    default:
      return false
  }
}

/** Removes the fields that the upstream nominated as hop-by-hop (RFC 9110 section 7.6.1). */
function removeNominated(headers: string[], connection: string): void {
  let kept = 0
  for (let i = 0; i < headers.length; i += 2) {
    if (listHasToken(connection, headers[i]!)) continue
    headers[kept] = headers[i]!
    headers[kept + 1] = headers[i + 1]!
    kept += 2
  }
  cut(headers, kept)
}

/** Setting the length would leave the optimised code for V8's runtime. */
function cut(headers: string[], length: number): void {
  while (headers.length > length) headers.pop()
}
