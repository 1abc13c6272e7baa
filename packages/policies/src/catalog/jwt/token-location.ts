import { isToken } from '@sluice/core'
import {
  type CredentialLocation,
  cookieCredential,
  headerCredential,
  queryCredential,
} from '../../shared/field-location/credential.js'
import type { JwtConfig } from './schema.js'

/** Where in a request the token stands. @throws Error for a name that cannot stand there. */
export function tokenLocation({ tokenFrom = 'header', name, scheme }: JwtConfig): CredentialLocation {
  if (tokenFrom === 'header') return tokenHeader(name ?? 'authorization', scheme)
  if (scheme !== undefined) throw new Error("'scheme' belongs to a token in a header; remove it")
  const written = name ?? 'access_token'
  return tokenFrom === 'query' ? queryCredential(written, '') : cookieCredential(written)
}

function tokenHeader(name: string, written: string | undefined): CredentialLocation {
  const scheme = written ?? (name.toLowerCase() === 'authorization' ? 'Bearer' : '')
  if (scheme !== '' && !isToken(scheme)) throw new Error("'scheme' is one word, without a space after it")
  return headerCredential(name, scheme === '' ? '' : `${scheme} `)
}
