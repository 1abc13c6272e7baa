import { type ByteEncoding, decode } from '../../shared/encoding/byte-text.js'
import { memberOf } from '../../shared/json/strict-json.js'
import { jwkOf, withKeyName } from './asymmetric-key.js'
import type { KeyUse } from './key-purpose.js'

/** Encoding of a secret in the document. */
export type SecretEncoding = ByteEncoding | 'utf8'

/** Minimum length of a secret: 128 bits resist brute force. */
const MIN_SECRET_BYTES = 16
const MAX_SECRET_BYTES = 4096

/**
 * Returns the bytes of a secret in an encoding or in a JWK (`{"kty":"oct","k":…}`).
 * @param what name of the secret in messages, which never contain the secret.
 * @throws Error if it is unreadable or too short.
 */
export function secretBytes(text: string, encoding: SecretEncoding, use: KeyUse, what: string): Buffer {
  return withKeyName(what, () => {
    const bytes = text.startsWith('{') ? jwkBytes(text, use) : decoded(text, encoding)
    if (bytes === null) throw new Error(`is not valid ${encoding}; correct it or 'encoding'`)
    if (bytes.length < MIN_SECRET_BYTES)
      throw new Error(
        `has ${bytes.length} bytes; a secret needs at least ${MIN_SECRET_BYTES}, preferably 32 random bytes`,
      )
    if (bytes.length > MAX_SECRET_BYTES)
      throw new Error(`is longer than ${MAX_SECRET_BYTES} bytes; check that it is the right file`)
    return bytes
  })
}

function decoded(text: string, encoding: SecretEncoding): Buffer | null {
  return encoding === 'utf8' ? Buffer.from(text) : decode(text, encoding)
}

function jwkBytes(text: string, use: KeyUse): Buffer {
  const jwk = jwkOf(text, use)
  const k = memberOf(jwk, 'k')
  const bytes = memberOf(jwk, 'kty') === 'oct' && typeof k === 'string' ? decode(k, 'base64url') : null
  if (bytes === null) throw new Error('is a JWK without a secret; it needs "kty":"oct" and "k"')
  return bytes
}
