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
  optionalOneOf,
  optionalString,
  optionalText,
  policyOptions,
  string,
} from '../../shared/options.js'

const field = closed('One value.', {
  from: locationOption('The location that is decrypted.'),
  to: Type.Optional(locationOption('Where the clear value goes; default: `from`.')),
  algorithm: oneOf(
    CIPHER_NAMES,
    'How it was encrypted; a message cannot choose. Those that begin with `weak-` need `allowWeak`.',
  ),
  keys: list(
    string('The id of a key.', { minLength: 1, maxLength: 64 }),
    'The keys that may be used: secrets, or for RSA private keys. A value that names one is decrypted with that one, else each is tried.',
    { minItems: 1, maxItems: 8 },
  ),
  encoding: sealedEncodingOption,
  as: optionalOneOf(
    ['text', 'json'],
    'With `to: json.…`: writes the clear text as a string, or as the JSON value that it is.',
    'text',
  ),
  context: optionalString('The text that the value was encrypted with; may hold {{placeholders}}.', {
    maxLength: 512,
  }),
  optional: optionalOption,
  contentType: optionalText(256, 'With `to: body`: the new `content-type`.'),
})

/** The configuration of `decrypt`. */
export const decryptSchema = policyOptions(
  {
    phase: phaseOption,
    keys: keyRingSchema,
    fields: list(field, 'The values, decrypted in this order.', { minItems: 1, maxItems: 32 }),
    maxBodyBytes: maxBodyOption,
    allowWeak: optionalFlag(
      false,
      'Allows `weak-aes-256-cbc` and `weak-rsa1_5`. Whether a message is accepted says then something about the clear text: verify a signature before.',
    ),
  },
  [
    LOCATIONS_TEXT,
    'The forms are those that `encrypt` writes. Whatever fails - nothing there, another encoding, an unknown key, a shortened or changed value, another context, a clear text that cannot stand at `to` - is answered with the same 400 `GW_DECRYPT_FAILED`, for a response with 502 `GW_RESPONSE_INVALID`.',
    '`weak-rsa1_5` needs a Node.js whose OpenSSL hides a broken padding (3.2 and later); on others the document is refused. RSA works on threads of libuv.',
  ],
)

/** The configuration of `decrypt`, derived from its schema. */
export type DecryptConfig = Static<typeof decryptSchema>
