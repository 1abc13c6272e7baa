import { type Exchange, headerCount, headerValue, isToken, removeHeader } from '@sluice/core'
import {
  ABSENT,
  parameterStart,
  parameterValue,
  REPEATED,
  withoutParameter,
} from '../api-key/query-parameter.js'
import { cookieValue, removeCookie } from './cookie.js'
import type { JwtConfig } from './schema.js'

/** Where in a request the token stands. */
export interface TokenPlace {
  /** The token; '' when there is none, null when it cannot be told which. */
  read(x: Exchange): string | null
  /** Takes the token out of what the upstream gets. Called only after it was read. */
  strip(x: Exchange): void
  /** The header or parameter that holds the secret, for the traffic log. */
  readonly secretName: string
}

/** @throws Error for a name that cannot stand there. */
export function tokenPlace({ tokenFrom = 'header', name, scheme }: JwtConfig): TokenPlace {
  if (tokenFrom === 'header') return headerPlace((name ?? 'authorization').toLowerCase(), scheme)
  if (scheme !== undefined) throw new Error("'scheme' belongs to a token in a header; remove it")
  const parameter = name ?? 'access_token'
  if (!isPlainName(parameter)) {
    throw new Error(`'${parameter}' is not a name for a cookie or parameter; use letters, digits and '-._~'`)
  }
  return tokenFrom === 'query' ? queryPlace(parameter) : cookiePlace(parameter)
}

function isPlainName(name: string): boolean {
  return /^[\w.~-]+$/.test(name)
}

function headerPlace(name: string, written: string | undefined): TokenPlace {
  if (!isToken(name)) throw new Error(`'${name}' is not a header name; use letters, digits and '-'`)
  const scheme = (written ?? (name === 'authorization' ? 'Bearer' : '')).toLowerCase()
  if (scheme !== '' && !isToken(scheme)) throw new Error("'scheme' is one word, without a space behind it")
  return {
    secretName: name,
    read(x) {
      const lines = headerCount(x.headers, name)
      if (lines !== 1) return lines === 0 ? '' : null
      const value = headerValue(x.headers, name)!
      return scheme === '' ? value : behindScheme(value, scheme)
    },
    strip: (x) => removeHeader(x.headers, name),
  }
}

/** Another scheme counts as no token: the challenge says which one is wanted. */
function behindScheme(value: string, scheme: string): string {
  const end = scheme.length
  if (value.slice(0, end).toLowerCase() !== scheme || value.charAt(end) !== ' ') return ''
  return value.slice(end + 1).trimStart()
}

function queryPlace(name: string): TokenPlace {
  return {
    secretName: name,
    read(x) {
      const start = parameterStart(x.query, name)
      if (start === REPEATED) return null
      return start === ABSENT ? '' : parameterValue(x.query, start)
    },
    strip(x) {
      x.query = withoutParameter(x.query, parameterStart(x.query, name))
    },
  }
}

function cookiePlace(name: string): TokenPlace {
  return {
    secretName: 'cookie',
    read: (x) => cookieValue(x.headers, name),
    strip: (x) => removeCookie(x.headers, name),
  }
}
