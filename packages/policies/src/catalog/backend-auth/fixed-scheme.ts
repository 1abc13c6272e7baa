import { type Exchange, isFieldValue, setHeader } from '@sluice/core'
import { parameterName, withoutParameters } from '../../shared/field-location/query-parameter.js'
import { fieldName } from '../../shared/field-name.js'
import { removeLookalikes } from '../../shared/spoofed-fields.js'
import type { BackendAuthConfig } from './schema.js'
import type { Scheme } from './scheme.js'

/** @throws Error for a name with a colon, which would end it. */
export function basicScheme({ username, password }: NonNullable<BackendAuthConfig['basic']>): Scheme {
  if (username.includes(':')) throw new Error("'basic.username' has a colon, which would end it (RFC 7617)")
  return headerScheme('authorization', `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`)
}

export function bearerScheme({ token }: NonNullable<BackendAuthConfig['bearer']>): Scheme {
  return headerScheme('authorization', `Bearer ${sendable(token, 'bearer.token')}`)
}

/** @throws Error for a name or a key that cannot stand there. */
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

/** The secret does not stand in the message. @throws Error when no header can hold it. */
function sendable(value: string, key: string): string {
  if (isFieldValue(value)) return value
  throw new Error(`'${key}' has a character that no header may hold, such as a line break at its end`)
}
