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

const value = field.closed('A value to decrypt.', {
  from: locationOption('Location of the encrypted value.'),
  to: Type.Optional(locationOption('Location for the decrypted value. Default: `from`.')),
  algorithm: field.oneOf(
    CIPHER_NAMES,
    'Encryption algorithm. It is never taken from the message. Algorithms that begin with `weak-` need `allowWeak`.',
  ),
  keys: field.list(
    field.string('A key id.', { minLength: 1, maxLength: 64 }),
    'Keys that may be used: secrets, or private keys for RSA. A value that names its key is decrypted with that key. Otherwise each key is tried.',
    { minItems: 1, maxItems: 8 },
  ),
  encoding: sealedEncodingOption,
  as: field.optionalOneOf(
    ['text', 'json'],
    'With `to: json.…`, writes the decrypted text as a string or as a JSON value.',
    'text',
  ),
  context: field.optionalString('Context with which the value was encrypted. May contain {{placeholders}}.', {
    maxLength: 512,
  }),
  optional: optionalOption,
  contentType: field.optionalText(256, 'New `content-type`, with `to: body`.'),
})

/** Schema of the configuration of `decrypt`. */
export const decryptSchema = field.policyOptions(
  {
    phase: phaseOption,
    keys: keyRingSchema,
    fields: field.list(value, 'Values to decrypt, in this order.', { minItems: 1, maxItems: 32 }),
    maxBodyBytes: maxBodyOption,
    allowWeak: field.optionalFlag(
      false,
      'Allows `weak-aes-256-cbc` and `weak-rsa1_5`. With these, accepting or refusing a message reveals something about the plaintext. Verify a signature first.',
    ),
  },
  [
    LOCATIONS_TEXT,
    'Reads the formats that `encrypt` writes. Every failure has the same response, 400 `GW_DECRYPT_FAILED`, or 502 `GW_RESPONSE_INVALID` for a response. Failures include a missing value, a wrong encoding, an unknown key, a truncated or modified value, a different context, and plaintext that is not valid at `to`.',
    '`weak-rsa1_5` needs a Node.js with OpenSSL 3.2 or later, which hides padding errors. Otherwise the document is rejected. RSA operations run on the libuv thread pool.',
  ],
)

/** Configuration of `decrypt`, derived from its schema. */
export type DecryptConfig = Configured<typeof decryptSchema>
