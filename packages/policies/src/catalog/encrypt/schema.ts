import { type Static, Type } from '@sinclair/typebox'
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
import {
  closed,
  list,
  oneOf,
  optionalFlag,
  optionalString,
  optionalText,
  policyOptions,
  string,
} from '../../shared/options.js'

const field = closed('One value.', {
  from: locationOption('The location that is encrypted.'),
  to: Type.Optional(locationOption('Where the encrypted value goes; default: `from`.')),
  algorithm: oneOf(CIPHER_NAMES, 'How; those that begin with `weak-` need `allowWeak`.'),
  key: string('The id of the key: a secret, or for RSA a public key.', { minLength: 1, maxLength: 64 }),
  encoding: sealedEncodingOption,
  writeKeyId: optionalFlag(
    true,
    'Writes `ID:` before the value, so that keys can be replaced; never with `raw`.',
  ),
  context: optionalString(
    'Text that has to be the same for decryption (AAD, for RSA the label); may hold {{placeholders}} such as `{{consumer.id}}`.',
    { maxLength: 512 },
  ),
  keepSource: optionalFlag(false, 'Leaves the clear value at `from` where `to` is another location.'),
  optional: optionalOption,
  contentType: optionalText(
    256,
    'With `to: body`: the new `content-type`; default `application/octet-stream` for `raw`, else `text/plain`.',
  ),
})

/** The configuration of `encrypt`. */
export const encryptSchema = policyOptions(
  {
    phase: phaseOption,
    keys: keyRingSchema,
    fields: list(field, 'The values, encrypted in this order.', { minItems: 1, maxItems: 32 }),
    maxBodyBytes: maxBodyOption,
    allowWeak: optionalFlag(
      false,
      'Allows `weak-aes-256-cbc`, which nothing protects from changes, and `weak-rsa1_5`.',
    ),
  },
  [
    LOCATIONS_TEXT,
    'What is written: with `aes-256-gcm` `IV (12 bytes) | ciphertext | tag (16)`, the IV random for each value, which is good for 2^32 values under one key; with `rsa-oaep-256` the block (hash and mask SHA-256; at most 190 bytes of clear text under 2048 bits); with `rsa-oaep-256+aes-256-gcm` `wrapped key | IV | ciphertext | tag`, for any length; with `weak-aes-256-cbc` `IV (16) | ciphertext`, padded by PKCS #7; with `weak-rsa1_5` the block. All of it in `encoding`, after the id of the key and a colon.',
    'A message that has nothing at `from` is refused with 400 `GW_BAD_REQUEST` unless `optional`; one whose value is too long for the algorithm, or whose body has no room for `to`, with 400 `GW_BODY_UNPARSABLE`.',
  ],
)

/** The configuration of `encrypt`, derived from its schema. */
export type EncryptConfig = Static<typeof encryptSchema>
