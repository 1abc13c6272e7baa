import { Type } from '@sinclair/typebox'
import type { Configured } from '@sluice/core'
import { CIPHER_NAMES } from '../../crypto/cipher/cipher.js'
import {
  LOCATIONS_TEXT,
  locationOption,
  maxBodyOption,
  optionalOption,
  phaseOption,
  sealedEncodingOption,
} from '../../crypto/cipher/field-options.js'
import { keyRingSchema } from '../../crypto/keys/key-ring.js'
import * as field from '../../shared/options/options.js'

const value = field.closed('A value to encrypt.', {
  from: locationOption('Location of the value.'),
  to: Type.Optional(locationOption('Location for the encrypted value. Default: `from`.')),
  algorithm: field.oneOf(
    CIPHER_NAMES,
    'Encryption algorithm. Algorithms that begin with `weak-` need `allowWeak`.',
  ),
  key: field.string('Key id. The key is a secret, or a public key for RSA.', { minLength: 1, maxLength: 64 }),
  encoding: sealedEncodingOption,
  writeKeyId: field.optionalFlag(
    true,
    'Writes `ID:` before the value, so that keys can be rotated. Ignored with `raw`.',
  ),
  context: field.optionalString(
    'Context that must be the same for decryption (AAD, or the label for RSA). May contain {{placeholders}} such as `{{consumer.id}}`.',
    { maxLength: 512 },
  ),
  keepSource: field.optionalFlag(false, 'Keeps the plaintext at `from` if `to` is a different location.'),
  optional: optionalOption,
  contentType: field.optionalText(
    256,
    'New `content-type`, with `to: body`. Default: `application/octet-stream` for `raw`, otherwise `text/plain`.',
  ),
})

/** Schema of the configuration of `encrypt`. */
export const encryptSchema = field.policyOptions(
  {
    phase: phaseOption,
    keys: keyRingSchema,
    fields: field.list(value, 'Values to encrypt, in this order.', { minItems: 1, maxItems: 32 }),
    maxBodyBytes: maxBodyOption,
    allowWeak: field.optionalFlag(
      false,
      'Allows `weak-aes-256-cbc`, which does not detect modifications, and `weak-rsa1_5`.',
    ),
  },
  [
    LOCATIONS_TEXT,
    'Output formats: `aes-256-gcm` writes `IV (12 bytes) | ciphertext | tag (16)`. The IV is random for each value, which is safe for 2^32 values per key. `rsa-oaep-256` writes the RSA block (SHA-256 for hash and mask; at most 190 bytes of plaintext with 2048 bits). `rsa-oaep-256+aes-256-gcm` writes `wrapped key | IV | ciphertext | tag`, for any length. `weak-aes-256-cbc` writes `IV (16) | ciphertext` with PKCS #7 padding. `weak-rsa1_5` writes the RSA block. The result is written in `encoding`, after the key id and a colon.',
    'A message without a value at `from` is refused with 400 `GW_BAD_REQUEST` unless `optional` is set. A value that is too long for the algorithm, or that cannot be written to `to`, is refused with 400 `GW_BODY_UNPARSABLE`.',
  ],
)

/** Configuration of `encrypt`, derived from its schema. */
export type EncryptConfig = Configured<typeof encryptSchema>
