import type { Configured } from '@sluice/core'
import {
  LOCATIONS_TEXT,
  locationOption,
  maxBodyOption,
  phaseOption,
} from '../../crypto/cipher/field-options.js'
import { keyRingSchema } from '../../crypto/keys/key-ring.js'
import { algorithmOption, ecdsaOption, encodingOption } from '../../crypto/keys/signature-options.js'
import { closed, list, optionalFlag, policyOptions, string } from '../../shared/options/options.js'

const signature = closed('Signature to verify.', {
  from: locationOption('Signed location.'),
  signature: locationOption('Location of the signature.'),
  algorithm: algorithmOption,
  keys: list(
    string('Id of a public key.', { minLength: 1, maxLength: 64 }),
    'Ids of accepted keys. Each is tried.',
    { minItems: 1, maxItems: 8 },
  ),
  encoding: encodingOption,
  ecdsa: ecdsaOption,
  optional: optionalFlag(false, 'Accepts messages that have neither the signed value nor a signature.'),
  strip: optionalFlag(false, 'Removes the signature from the message.'),
})

/** Schema of the `verify` configuration. */
export const verifySchema = policyOptions(
  {
    phase: phaseOption,
    keys: keyRingSchema,
    signatures: list(signature, 'Signatures. All of them must be valid.', { minItems: 1, maxItems: 32 }),
    maxBodyBytes: maxBodyOption,
  },
  [
    LOCATIONS_TEXT,
    'A missing signature gets 401 `GW_SIGNATURE_MISSING`. A wrong or truncated signature, another encoding, key or algorithm, or a missing signed value gets 401 `GW_SIGNATURE_INVALID`. For responses, both are 502 `GW_RESPONSE_INVALID`.',
    'A detached signature does not protect against replay: it is not bound to a time, a recipient or a request. Use `http-signature` for that.',
  ],
)

/** Configuration of `verify`, derived from its schema. */
export type VerifyConfig = Configured<typeof verifySchema>
