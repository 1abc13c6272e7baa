import { isToken } from '@sluice/core'
import {
  type CredentialLocation,
  cookieCredential,
  headerCredential,
  queryCredential,
} from '../../shared/field-location/credential.js'
import type { TokenConfig } from './token-options.js'

/** Compiles the location of the token. @throws Error if the name is not valid there. */
export function tokenLocation({ tokenFrom = 'header', name, scheme }: TokenConfig): CredentialLocation {
  if (tokenFrom === 'header') return tokenHeader(name ?? 'authorization', scheme)
  if (scheme !== undefined) throw new Error("'scheme' is only for a token in a header; remove it")
  const written = name ?? 'access_token'
  return tokenFrom === 'query' ? queryCredential(written, '') : cookieCredential(written)
}

function tokenHeader(name: string, written: string | undefined): CredentialLocation {
  const scheme = written ?? (name.toLowerCase() === 'authorization' ? 'Bearer' : '')
  if (scheme !== '' && !isToken(scheme))
    throw new Error("'scheme' must be one word, without a trailing space")
  return headerCredential(name, scheme === '' ? '' : `${scheme} `)
}
