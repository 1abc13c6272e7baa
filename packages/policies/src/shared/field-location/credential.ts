import { type Exchange, headerCount, headerValue, isToken, removeHeader, trimOwsStart } from '@sluice/core'
import { cookieValue, removeCookie } from './cookie.js'
import {
  ABSENT,
  parameterName,
  parameterStart,
  parameterValue,
  REPEATED,
  withoutParameter,
} from './query-parameter.js'

/** Location of a credential in a request, such as a key or a token. */
export interface CredentialLocation {
  readonly name: string
  /** Returns the credential, '' if there is none, or null if it is ambiguous or unreadable. */
  read(x: Exchange): string | null
  /** Removes the credential from the request to the upstream. Called only after `read`. */
  strip(x: Exchange): void
}

/** Compiles a header location with an optional, case-insensitive prefix. @throws Error for an invalid header name. */
export function headerCredential(written: string, prefix: string): CredentialLocation {
  const name = written.toLowerCase()
  if (!isToken(name)) throw new Error(`'${written}' is not a header name; use letters, digits and '-'`)
  return {
    name,
    read(x) {
      const lines = headerCount(x.headers, name)
      if (lines !== 1) return lines === 0 ? '' : null
      return trimOwsStart(after(prefix, headerValue(x.headers, name)!))
    },
    strip: (x) => removeHeader(x.headers, name),
  }
}

/** Compiles a query parameter location with an optional prefix. @throws Error if the name would need an escape. */
export function queryCredential(written: string, prefix: string): CredentialLocation {
  const name = parameterName(written)
  return {
    name,
    read(x) {
      const start = parameterStart(x.query, name)
      if (start === REPEATED) return null
      const value = start === ABSENT ? '' : parameterValue(x.query, start)
      return value === null ? null : after(prefix, value)
    },
    strip(x) {
      x.query = withoutParameter(x.query, parameterStart(x.query, name))
    },
  }
}

/** Compiles a cookie location. @throws Error if the name would need an escape. */
export function cookieCredential(written: string): CredentialLocation {
  const cookie = parameterName(written)
  return {
    name: 'cookie',
    read: (x) => cookieValue(x.headers, cookie),
    strip: (x) => removeCookie(x.headers, cookie),
  }
}

/** Removes the prefix. Another prefix counts as no credential; the challenge names the required one. */
function after(prefix: string, value: string): string {
  if (prefix === '') return value
  const begins = value.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase()
  return begins ? value.slice(prefix.length) : ''
}
