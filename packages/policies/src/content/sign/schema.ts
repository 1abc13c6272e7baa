import type { Configured } from '@sluice/core'
import {
  LOCATIONS_TEXT,
  locationOption,
  maxBodyOption,
  optionalOption,
  phaseOption,
} from '../../crypto/cipher/field-options.js'
import { keyRingSchema } from '../../crypto/keys/key-ring.js'
import { algorithmOption, ecdsaOption, encodingOption } from '../../crypto/keys/signature-options.js'
import { closed, list, policyOptions, string } from '../../shared/options/options.js'

const signature = closed('Signature to create.', {
  from: locationOption('Location to sign.'),
  to: locationOption('Location of the signature. An existing value is replaced.'),
  algorithm: algorithmOption,
  key: string('Id of the private key.', { minLength: 1, maxLength: 64 }),
  encoding: encodingOption,
  ecdsa: ecdsaOption,
  optional: optionalOption,
})

/** Schema of the `sign` configuration. */
export const signSchema = policyOptions(
  {
    phase: phaseOption,
    keys: keyRingSchema,
    signatures: list(signature, 'Signatures, created in this order.', { minItems: 1, maxItems: 32 }),
    maxBodyBytes: maxBodyOption,
  },
  [
    LOCATIONS_TEXT,
    'A message that has nothing at `from` is refused with 400 `GW_BAD_REQUEST` unless `optional`. The `PS` algorithms use a salt as long as the hash. RSA and P-384 signatures run on libuv threads. To sign whole requests with method, target and time, use `http-signature`.',
  ],
)

/** Configuration of `sign`, derived from its schema. */
export type SignConfig = Configured<typeof signSchema>
