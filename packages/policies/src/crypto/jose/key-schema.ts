import type { Static, TObject } from '@sinclair/typebox'
import * as field from '../../shared/options/options.js'

/** Maximum number of keys of a policy. */
export const MAX_KEYS = 100

/** Pattern of a configured media type. */
export const MEDIA_TYPE =
  '^[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}(; ?[A-Za-z0-9-]{1,64}=[A-Za-z0-9._-]{1,64})?$'

/** Maximum length of a key or a key set in characters. */
const MAX_KEY_TEXT = 1024 * 1024

function keyText(description: string) {
  return field.optionalText(MAX_KEY_TEXT, description, { secret: true })
}

/** Members that define a key. Exactly one of `jwk`, `pem`, `file` and `secret` is required. */
export const keySource = {
  kid: field.optionalText(256, 'Key id. Default: the `kid` of the JWK, if any.'),
  jwk: keyText('Key as the JSON text of a JWK (RFC 7517), usually by reference.'),
  pem: keyText('Key or certificate as PEM. The validity dates of a certificate are ignored.'),
  file: field.optionalFile('File with the JWK or the PEM, read when the document is loaded.'),
  secret: keyText('Symmetric key, usually by reference.'),
  secretEncoding: field.optionalOneOf(
    ['utf8', 'base64url', 'base64', 'hex'],
    'Encoding of `secret`.',
    'utf8',
  ),
}

/** Returns the members of a key for some of these algorithms. */
export function keyMembers<N extends string>(names: readonly N[]) {
  return {
    ...keySource,
    algorithms: field.optionalList(
      field.oneOf(names, 'Algorithm.'),
      'Algorithms of the key. Default: the `alg` of the JWK, or else all that fit its type.',
      { minItems: 1, uniqueItems: true },
    ),
  }
}

/** Schema of a key set (RFC 7517 section 5) in a file or in the document. */
export const jwksSchema = field.closed('Key set (JWKS): `file` or `inline`.', {
  file: field.optionalFile('File with the key set, read when the document is loaded.'),
  inline: keyText('JSON text of the key set.'),
})

type Written = Static<TObject<typeof keySource>>

/** Configuration of a key. */
export interface KeyConfig extends Written {
  readonly algorithms?: readonly string[]
}

/** Configuration of a key set. */
export type JwksConfig = Static<typeof jwksSchema>

/** Schema of `allowWeak`, for policies with keys that may be too short. */
export const allowWeakSchema = field.optionalFlag(
  false,
  'Accept RSA keys below 2048 bits or with an exponent below 65537, and secrets shorter than the hash. Not for production.',
)

/** Returns the name of a configured key in messages. */
export function keyName(i: number, { kid }: { readonly kid?: string }): string {
  return `key ${i + 1}${kid === undefined ? '' : ` ('${kid}')`}`
}
