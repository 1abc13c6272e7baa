import type { Static } from '@sinclair/typebox'
import {
  LOCATIONS_TEXT,
  locationOption,
  maxBodyOption,
  optionalOption,
  phaseOption,
} from '../../crypto/cipher/field-options.js'
import { keyRingSchema } from '../../crypto/keys/key-ring.js'
import { algorithmOption, ecdsaOption, encodingOption } from '../../crypto/keys/signature-options.js'
import { closed, list, policyOptions, string } from '../../shared/options.js'

const signature = closed('One signature.', {
  from: locationOption('What is signed.'),
  to: locationOption('Where the signature goes; what stands there is replaced.'),
  algorithm: algorithmOption,
  key: string('The id of the private key.', { minLength: 1, maxLength: 64 }),
  encoding: encodingOption,
  ecdsa: ecdsaOption,
  optional: optionalOption,
})

/** The configuration of `sign`. */
export const signSchema = policyOptions(
  {
    phase: phaseOption,
    keys: keyRingSchema,
    signatures: list(signature, 'The signatures, made in this order.', { minItems: 1, maxItems: 32 }),
    maxBodyBytes: maxBodyOption,
  },
  [
    LOCATIONS_TEXT,
    'A message that has nothing at `from` is refused with 400 `GW_BAD_REQUEST` unless `optional`. The salt of `PS` is as long as its hash. RSA and P-384 sign on threads of libuv. For whole requests with method, target and time see `http-signature`.',
  ],
)

/** The configuration of `sign`, derived from its schema. */
export type SignConfig = Static<typeof signSchema>
