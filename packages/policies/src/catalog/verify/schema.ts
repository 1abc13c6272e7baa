import { type Static, Type } from '@sinclair/typebox'
import {
  LOCATIONS_TEXT,
  locationOption,
  maxBodyOption,
  phaseOption,
} from '../../crypto/cipher/field-options.js'
import { keyRingSchema } from '../../crypto/keys/key-ring.js'
import { algorithmOption, ecdsaOption, encodingOption } from '../../crypto/keys/signature-options.js'
import { closed, optionalFlag } from '../../shared/options.js'

const signature = closed('One signature.', {
  from: locationOption('What is signed.'),
  signature: locationOption('Where the signature stands.'),
  algorithm: algorithmOption,
  keys: Type.Array(Type.String({ minLength: 1, maxLength: 64, description: 'The id of a public key.' }), {
    minItems: 1,
    maxItems: 8,
    description: 'The keys that may have signed; each is tried.',
  }),
  encoding: encodingOption,
  ecdsa: ecdsaOption,
  optional: optionalFlag(false, 'Lets messages pass that have neither the signed value nor a signature.'),
  strip: optionalFlag(false, 'Removes the signature from the message.'),
})

/** The configuration of `verify`. */
export const verifySchema = Type.Object(
  {
    phase: phaseOption,
    keys: keyRingSchema,
    signatures: Type.Array(signature, {
      minItems: 1,
      maxItems: 32,
      description: 'The signatures; all have to be right.',
    }),
    maxBodyBytes: maxBodyOption,
  },
  {
    additionalProperties: false,
    description: [
      LOCATIONS_TEXT,
      'Without a signature the answer is 401 `GW_SIGNATURE_MISSING`; with one that is wrong, shortened, in another encoding, or by another key or algorithm, and when the signed value is not there, 401 `GW_SIGNATURE_INVALID`. On the response side both are 502 `GW_RESPONSE_INVALID`.',
      'A detached signature says nothing about when, for whom or for which request it was made: it can be used again. For that see `http-signature`.',
    ].join('\n\n'),
  },
)

/** The configuration of `verify`, derived from its schema. */
export type VerifyConfig = Static<typeof verifySchema>
