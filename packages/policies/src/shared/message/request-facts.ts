import type { Exchange } from '@sluice/core'

/** What signatures of a request are made over. */
export interface RequestFacts {
  readonly method: string
  readonly scheme: 'http' | 'https'
  /** Lower case, without the port that the scheme implies (RFC 9110 section 4.2.3). */
  readonly authority: string
  /** As it stands on the wire, escapes and all. */
  readonly path: string
  /** As it stands on the wire, without "?". */
  readonly query: string
  /** True if the target ends with a "?" and nothing behind it. */
  readonly hasEmptyQuery: boolean
  /** The values of a field, line by line; empty when it is absent. `name` must be lower-case. */
  lines(name: string): readonly string[]
}

/** The request as it was received. Correct in `onRequest`, before later policies change it. */
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

/** The request as the target of the attempt will get it. Correct in `onAttempt`. */
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

/** The values of a field in a list, line by line. */
export function linesOf(list: readonly string[], name: string): string[] {
  const lines: string[] = []
  for (let i = 0; i < list.length; i += 2) {
    if (list[i] === name) lines.push(list[i + 1]!)
  }
  return lines
}

/** Nothing for an empty body: whether a field says so is up to the method. */
function lengthToSend(x: Exchange): readonly string[] {
  const length = x.body?.length ?? x.contentLength
  return length > 0 ? [String(length)] : []
}

function normalAuthority(authority: string, scheme: string): string {
  const lower = authority.toLowerCase()
  const port = scheme === 'https' ? ':443' : ':80'
  return lower.endsWith(port) ? lower.slice(0, -port.length) : lower
}
