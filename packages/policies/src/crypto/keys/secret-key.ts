import { memberOf } from '../../engines/json/strict-json.js'
import { type ByteEncoding, decode } from '../../shared/encoding/byte-text.js'
import { jwkOf, named } from './asymmetric-key.js'
import type { KeyUse } from './key-purpose.js'

/** How the document writes a secret. */
export type SecretEncoding = ByteEncoding | 'utf8'

/** 128 bits: what is shorter can be found by trying. */
const MIN_SECRET_BYTES = 16
const MAX_SECRET_BYTES = 4096

/**
 * The bytes of a secret: as encoded, or those of a JWK (`{"kty":"oct","k":…}`).
 * @param what names it in messages, which never hold the secret.
 * @throws Error when it cannot be read, or is too short to keep anything.
 */
export function secretBytes(text: string, encoding: SecretEncoding, use: KeyUse, what: string): Buffer {
  return named(what, () => {
    const bytes = text.startsWith('{') ? jwkBytes(text, use) : decoded(text, encoding)
    if (bytes === null) throw new Error(`is not ${encoding}; correct it or 'encoding'`)
    if (bytes.length < MIN_SECRET_BYTES) {
      throw new Error(
        `has ${bytes.length} bytes; a secret needs at least ${MIN_SECRET_BYTES}, better 32 random ones`,
      )
    }
    if (bytes.length > MAX_SECRET_BYTES)
      throw new Error(`is longer than ${MAX_SECRET_BYTES} bytes; is it the right file?`)
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
  if (bytes === null) throw new Error('is a JWK that holds no secret; it needs "kty":"oct" and "k"')
  return bytes
}
