import { type Static, Type } from '@sinclair/typebox'
import { algorithmNamed, type EcdsaForm } from './signature-algorithm.js'

/** The algorithm of a detached signature; none rests on SHA-1 or MD5. */
export const algorithmOption = Type.Union(
  [
    Type.Literal('Ed25519'),
    Type.Literal('ES256'),
    Type.Literal('ES384'),
    Type.Literal('PS256'),
    Type.Literal('PS384'),
    Type.Literal('PS512'),
    Type.Literal('RS256'),
    Type.Literal('RS384'),
    Type.Literal('RS512'),
  ],
  {
    description:
      'The algorithm, by the names of JOSE: Ed25519, ECDSA, RSA-PSS or RSA with PKCS #1 v1.5. A message cannot choose.',
  },
)

export const encodingOption = Type.Optional(
  Type.Union([Type.Literal('base64'), Type.Literal('base64url'), Type.Literal('hex')], {
    default: 'base64',
    description: 'How the signature is written.',
  }),
)

export const ecdsaOption = Type.Optional(
  Type.Union([Type.Literal('ieee-p1363'), Type.Literal('der')], {
    description:
      'With `ES`: both numbers side by side (default), or in ASN.1 as OpenSSL and Java write them.',
  }),
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
