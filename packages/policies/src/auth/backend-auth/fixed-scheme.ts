import { type Exchange, isFieldValue, setHeader } from '@sluice/core'
import { parameterName, withoutParameters } from '../../shared/field-location/query-parameter.js'
import { fieldName } from '../../shared/message/field-name.js'
import { removeLookalikes } from '../../shared/message/spoofed-fields.js'
import type { BackendAuthConfig } from './schema.js'
import type { Scheme } from './scheme.js'

/** Compiles Basic authentication. @throws Error if the user name contains a colon. */
export function basicScheme({ username, password }: NonNullable<BackendAuthConfig['basic']>): Scheme {
  if (username.includes(':')) throw new Error("'basic.username' must not contain a colon (RFC 7617)")
  return headerScheme('authorization', `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`)
}

/** Compiles a fixed bearer token. @throws Error if the token is not valid in a header. */
export function bearerScheme({ token }: NonNullable<BackendAuthConfig['bearer']>): Scheme {
  return headerScheme('authorization', `Bearer ${sendable(token, 'bearer.token')}`)
}

/** Compiles an API key in a header or the query. @throws Error if the name or the key is not valid there. */
export function apiKeyScheme(config: NonNullable<BackendAuthConfig['apiKey']>): Scheme {
  const { in: where, name, value } = config
  if (where === 'header') return headerScheme(fieldName('request', name), sendable(value, 'apiKey.value'))
  const parameter = parameterName(name)
  const pair = `${parameter}=${encodeURIComponent(value)}`
  return scheme(false, (x) => {
    const rest = withoutParameters(x.query, parameter)
    x.query = rest === '' ? pair : `${rest}&${pair}`
  })
}

function headerScheme(name: string, value: string): Scheme {
  return scheme(name === 'authorization', (x) => {
    setHeader(x.headers, name, value)
    removeLookalikes(x.headers, name)
  })
}

function scheme(setsAuthorization: boolean, put: (x: Exchange) => void): Scheme {
  const onAttempt = (x: Exchange): null => {
    put(x)
    return null
  }
  return { needsBody: false, setsAuthorization, onAttempt }
}

/** Returns the value if it is a valid header value. The error does not reveal the secret. @throws Error */
function sendable(value: string, key: string): string {
  if (isFieldValue(value)) return value
  throw new Error(
    `'${key}' contains a character that is not allowed in a header, such as a trailing line break`,
  )
}
