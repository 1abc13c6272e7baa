import type { Exchange } from '@sluice/core'

/** Parts of a request that signatures cover. */
export interface RequestFacts {
  readonly method: string
  readonly scheme: 'http' | 'https'
  /** Authority in lower case, without the default port of the scheme (RFC 9110 section 4.2.3). */
  readonly authority: string
  /** Path as on the wire, including escapes. */
  readonly path: string
  /** Query as on the wire, without "?". */
  readonly query: string
  /** True if the target ends with a "?" and an empty query. */
  readonly hasEmptyQuery: boolean
  /** Returns the values of a header, line by line; empty if it is absent. `name` must be lower-case. */
  lines(name: string): readonly string[]
}

/** Returns the request as received. Correct in `onRequest`, before later policies change it. */
export function receivedRequest(x: Exchange): RequestFacts {
  return {
    method: x.method,
    scheme: x.scheme,
    authority: normalAuthority(x.authority, x.scheme),
    path: x.rawPath,
    query: x.query,
    hasEmptyQuery: x.hasEmptyQuery,
    lines(name) {
      if (name === 'host') return [x.authority]
      if (name === 'content-length') return x.contentLength < 0 ? [] : [String(x.contentLength)]
      return linesOf(x.headers, name)
    },
  }
}

/** Returns the request as the target of the attempt receives it. Correct in `onAttempt`. */
export function sentRequest(x: Exchange): RequestFacts {
  const scheme = x.target.startsWith('https:') ? 'https' : 'http'
  return {
    method: x.method,
    scheme,
    authority: normalAuthority(x.sentHost, scheme),
    path: x.sentPath,
    query: x.query,
    hasEmptyQuery: x.hasEmptyQuery,
    lines(name) {
      if (name === 'host') return [x.sentHost]
      if (name === 'content-length') return lengthToSend(x)
      return linesOf(x.headers, name)
    },
  }
}

/** Returns the values of a header, line by line. */
export function linesOf(list: readonly string[], name: string): string[] {
  const lines: string[] = []
  for (let i = 0; i < list.length; i += 2) {
    if (list[i] === name) lines.push(list[i + 1]!)
  }
  return lines
}

/** Returns the content length to send. Empty for an empty body, because the header then depends on the method. */
function lengthToSend(x: Exchange): readonly string[] {
  const length = x.body?.length ?? x.contentLength
  return length > 0 ? [String(length)] : []
}

function normalAuthority(authority: string, scheme: string): string {
  const lower = authority.toLowerCase()
  const port = scheme === 'https' ? ':443' : ':80'
  return lower.endsWith(port) ? lower.slice(0, -port.length) : lower
}
