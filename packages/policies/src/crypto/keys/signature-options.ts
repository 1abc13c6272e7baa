import type { Static } from '@sinclair/typebox'
import { oneOf, optionalOneOf } from '../../shared/options.js'
import { algorithmNamed, type EcdsaForm } from './signature-algorithm.js'

/** The algorithm of a detached signature; none rests on SHA-1 or MD5. */
export const algorithmOption = oneOf(
  ['Ed25519', 'ES256', 'ES384', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'],
  'The algorithm, by the names of JOSE: Ed25519, ECDSA, RSA-PSS or RSA with PKCS #1 v1.5. A message cannot choose.',
)

export const encodingOption = optionalOneOf(
  ['base64', 'base64url', 'hex'],
  'How the signature is written.',
  'base64',
)

export const ecdsaOption = optionalOneOf(
  ['ieee-p1363', 'der'],
  'With `ES`: both numbers side by side (default), or in ASN.1 as OpenSSL and Java write them.',
)

interface Options {
  readonly algorithm: Static<typeof algorithmOption>
  readonly ecdsa?: EcdsaForm
}

/** The form of ECDSA signatures that is written. @throws Error when it is written for another algorithm. */
export function ecdsaForm({ algorithm, ecdsa }: Options): EcdsaForm | undefined {
  if (ecdsa === undefined || algorithmNamed(algorithm).family === 'ecdsa') return ecdsa
  throw new Error("'ecdsa' is for ES256 and ES384; remove it")
}
