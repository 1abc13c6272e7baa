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

/** Where in a request a credential stands: a key, a token. */
export interface CredentialLocation {
  /** The name of the header or parameter that holds it. */
  readonly name: string
  /** The credential; '' when there is none, null when it cannot be known or read. */
  read(x: Exchange): string | null
  /** Takes it out of what the upstream gets. Called only after it was read. */
  strip(x: Exchange): void
}

/** A header, with an optional prefix before the credential, without case. @throws Error when the name is no field name. */
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

/** A query parameter, with an optional prefix. @throws Error when the name would need an escape. */
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

/** A cookie. @throws Error when the name would need an escape. */
export function cookieCredential(written: string): CredentialLocation {
  const cookie = parameterName(written)
  return {
    name: 'cookie',
    read: (x) => cookieValue(x.headers, cookie),
    strip: (x) => removeCookie(x.headers, cookie),
  }
}

/** Another prefix counts as no credential: the challenge says which one is wanted. */
function after(prefix: string, value: string): string {
  if (prefix === '') return value
  const begins = value.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase()
  return begins ? value.slice(prefix.length) : ''
}
