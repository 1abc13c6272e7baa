import type { Static } from '@sinclair/typebox'
import {
  LOCATIONS_TEXT,
  locationOption,
  maxBodyOption,
  phaseOption,
} from '../../crypto/cipher/field-options.js'
import { keyRingSchema } from '../../crypto/keys/key-ring.js'
import { algorithmOption, ecdsaOption, encodingOption } from '../../crypto/keys/signature-options.js'
import { closed, list, optionalFlag, policyOptions, string } from '../../shared/options.js'

const signature = closed('One signature.', {
  from: locationOption('What is signed.'),
  signature: locationOption('Where the signature stands.'),
  algorithm: algorithmOption,
  keys: list(
    string('The id of a public key.', { minLength: 1, maxLength: 64 }),
    'The keys that may have signed; each is tried.',
    { minItems: 1, maxItems: 8 },
  ),
  encoding: encodingOption,
  ecdsa: ecdsaOption,
  optional: optionalFlag(false, 'Lets messages pass that have neither the signed value nor a signature.'),
  strip: optionalFlag(false, 'Removes the signature from the message.'),
})

/** The configuration of `verify`. */
export const verifySchema = policyOptions(
  {
    phase: phaseOption,
    keys: keyRingSchema,
    signatures: list(signature, 'The signatures; all have to be right.', { minItems: 1, maxItems: 32 }),
    maxBodyBytes: maxBodyOption,
  },
  [
    LOCATIONS_TEXT,
    'Without a signature the answer is 401 `GW_SIGNATURE_MISSING`; with one that is wrong, shortened, in another encoding, or by another key or algorithm, and when the signed value is not there, 401 `GW_SIGNATURE_INVALID`. On the response side both are 502 `GW_RESPONSE_INVALID`.',
    'A detached signature says nothing about when, for whom or for which request it was made: it can be used again. For that see `http-signature`.',
  ],
)

/** The configuration of `verify`, derived from its schema. */
export type VerifyConfig = Static<typeof verifySchema>
