import type { Static } from '@sinclair/typebox'
import { oneOf, optionalOneOf } from '../../shared/options/options.js'
import { algorithmNamed, type EcdsaForm } from './signature-algorithm.js'

/** Schema of the algorithm of a detached signature. None of them uses SHA-1 or MD5. */
export const algorithmOption = oneOf(
  ['Ed25519', 'ES256', 'ES384', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'],
  'Signature algorithm by its JOSE name: Ed25519, ECDSA, RSA-PSS or RSA with PKCS #1 v1.5. Messages cannot choose it.',
)

/** Schema of the encoding of a signature. */
export const encodingOption = optionalOneOf(
  ['base64', 'base64url', 'hex'],
  'Encoding of the signature.',
  'base64',
)

/** Schema of the format of ECDSA signatures. */
export const ecdsaOption = optionalOneOf(
  ['ieee-p1363', 'der'],
  'Format of ECDSA signatures: concatenated numbers (`ieee-p1363`, default), or ASN.1 as in OpenSSL and Java (`der`).',
)

interface Options {
  readonly algorithm: Static<typeof algorithmOption>
  readonly ecdsa?: EcdsaForm
}

/** Returns the configured ECDSA format. @throws Error if the algorithm is not ECDSA. */
export function ecdsaForm({ algorithm, ecdsa }: Options): EcdsaForm | undefined {
  if (ecdsa === undefined || algorithmNamed(algorithm).family === 'ecdsa') return ecdsa
  throw new Error("'ecdsa' is only for ES256 and ES384; remove it")
}
