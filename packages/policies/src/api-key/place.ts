import { type Exchange, headerCount, headerValue, isToken, removeHeader } from '@sluice/core'
import { ABSENT, parameterStart, parameterValue, REPEATED, withoutParameter } from './query-parameter.js'

/** Where in a request the key stands. */
export interface Place {
  /** The key; '' when there is none, null when it cannot be told or read. */
  read(x: Exchange): string | null
  /** Takes the key out of what the upstream gets. Called only after a key was read. */
  strip(x: Exchange): void
  /** The `www-authenticate` value that says where to put a key. */
  readonly challenge: string
}

/** A header, with an optional prefix before the key. @throws Error when the name is not a field name. */
export function headerPlace(written: string, prefix: string): Place {
  const name = written.toLowerCase()
  if (!isToken(name)) throw new Error(`'${written}' is not a header name; use letters, digits and '-'`)
  const expected = prefix.toLowerCase()
  return {
    challenge: headerChallenge(name, prefix),
    read(x) {
      const lines = headerCount(x.headers, name)
      if (lines !== 1) return lines === 0 ? '' : null
      const value = headerValue(x.headers, name)!
      if (expected === '') return value
      return value.slice(0, expected.length).toLowerCase() === expected
        ? value.slice(expected.length).trim()
        : ''
    },
    strip: (x) => removeHeader(x.headers, name),
  }
}

/** A query parameter, with an optional prefix. @throws Error when the name would need an escape. */
export function queryPlace(name: string, prefix: string): Place {
  if (!/^[\w.~-]+$/.test(name)) {
    throw new Error(`'${name}' is not a name for a query parameter; use letters, digits and '-._~'`)
  }
  const expected = prefix.toLowerCase()
  return {
    challenge: `ApiKey in="query", name="${name}"`,
    read(x) {
      const start = parameterStart(x.query, name)
      if (start === REPEATED) return null
      const value = start === ABSENT ? '' : parameterValue(x.query, start)
      if (value === null || expected === '') return value
      return value.slice(0, expected.length).toLowerCase() === expected ? value.slice(expected.length) : ''
    },
    strip(x) {
      x.query = withoutParameter(x.query, parameterStart(x.query, name))
    },
  }
}

/** A prefix that is an authentication scheme, as in `Bearer `, is its own challenge. */
function headerChallenge(name: string, prefix: string): string {
  const scheme = prefix.trim()
  return name === 'authorization' && isToken(scheme) ? scheme : `ApiKey in="header", name="${name}"`
}
