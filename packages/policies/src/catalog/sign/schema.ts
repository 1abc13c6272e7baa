import { type Static, Type } from '@sinclair/typebox'
import {
  LOCATIONS_TEXT,
  locationOption,
  maxBodyOption,
  optionalOption,
  phaseOption,
} from '../../crypto/cipher/field-options.js'
import { keyRingSchema } from '../../crypto/keys/key-ring.js'
import { algorithmOption, ecdsaOption, encodingOption } from '../../crypto/keys/signature-options.js'
import { closed } from '../../shared/options.js'

const signature = closed('One signature.', {
  from: locationOption('What is signed.'),
  to: locationOption('Where the signature goes; what stands there is replaced.'),
  algorithm: algorithmOption,
  key: Type.String({ minLength: 1, maxLength: 64, description: 'The id of the private key.' }),
  encoding: encodingOption,
  ecdsa: ecdsaOption,
  optional: optionalOption,
})

/** The configuration of `sign`. */
export const signSchema = Type.Object(
  {
    phase: phaseOption,
    keys: keyRingSchema,
    signatures: Type.Array(signature, {
      minItems: 1,
      maxItems: 32,
      description: 'The signatures, made in this order.',
    }),
    maxBodyBytes: maxBodyOption,
  },
  {
    additionalProperties: false,
    description: [
      LOCATIONS_TEXT,
      'A message that has nothing at `from` is refused with 400 `GW_BAD_REQUEST` unless `optional`. The salt of `PS` is as long as its hash. RSA and P-384 sign on threads of libuv. For whole requests with method, target and time see `http-signature`.',
    ].join('\n\n'),
  },
)

/** The configuration of `sign`, derived from its schema. */
export type SignConfig = Static<typeof signSchema>
