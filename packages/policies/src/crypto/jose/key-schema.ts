import { type Static, type TObject, Type } from '@sinclair/typebox'
import { callTls } from '../../shared/call-tls.js'
import {
  closed,
  oneOf,
  optionalDuration,
  optionalFile,
  optionalFlag,
  optionalList,
  optionalOneOf,
  optionalString,
  optionalText,
} from '../../shared/options.js'
import { tenantsSchema } from './tenants.js'

/** Most keys of one policy. */
export const MAX_KEYS = 100
/** Default of `secretEncoding`. */
export const DEFAULT_ENCODING = 'utf8'

/** A content type that a configuration may name. */
export const MEDIA_TYPE =
  '^[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}(; ?[A-Za-z0-9-]{1,64}=[A-Za-z0-9._-]{1,64})?$'

/** Longest text of a key, or of a set of keys. */
const MAX_KEY_TEXT = 1024 * 1024

function keyText(description: string, secret: boolean) {
  const options = { minLength: 1, maxLength: MAX_KEY_TEXT, description }
  return Type.Optional(Type.String(secret ? { secret: true, ...options } : options))
}

/** The members that say what a key is; exactly one of `jwk`, `pem`, `file` and `secret` is written. */
export const keySource = {
  kid: optionalText(256, 'The id of the key; default: the `kid` of the JWK, else none.'),
  jwk: keyText('The key as the JSON text of a JWK (RFC 7517), usually a reference.', true),
  pem: keyText('The key as PEM, or a certificate, whose dates do not matter here.', true),
  file: optionalFile('A file with the JWK or the PEM, read at load.'),
  secret: keyText('A symmetric key, usually a reference.', true),
  secretEncoding: optionalOneOf(
    ['utf8', 'base64url', 'base64', 'hex'],
    'How `secret` spells its bytes.',
    DEFAULT_ENCODING,
  ),
}

/** The members of a key that serves for some of these algorithms. */
export function keyMembers<N extends string>(names: readonly N[]) {
  return {
    ...keySource,
    algorithms: optionalList(
      oneOf(names, 'An algorithm.'),
      'What the key serves for; default: the `alg` of the JWK, else all that fit its type.',
      { minItems: 1, uniqueItems: true },
    ),
  }
}

/** A set of keys (RFC 7517 section 5) in a file or in the document. */
export const jwksSchema = closed('A set of keys (JWKS): `file` or `inline`.', {
  file: optionalFile('A file with the set, read at load.'),
  inline: keyText('The JSON text of the set.', true),
})

/** Default of `timeout`. */
export const DEFAULT_KEY_TIMEOUT = '5s'
/** Default of `refresh`. */
export const DEFAULT_KEY_REFRESH = '10m'
/** Default of `maxStale`. */
export const DEFAULT_KEY_STALE = '1d'

/** A set of keys that may also be one that an issuer publishes. */
export const remoteJwksMembers = {
  ...jwksSchema.properties,
  url: optionalString('Where the issuer publishes the set.', {
    minLength: 1,
    maxLength: 2048,
    destination: true,
  }),
  discovery: optionalString(
    'The issuer, whose metadata under `/.well-known/openid-configuration` say where its keys are (OpenID Connect Discovery). They sign for this issuer alone. Keys at another place than the issuer are not fetched from link-local addresses, nor from those at which clouds hand out credentials.',
    { minLength: 1, maxLength: 2048, destination: true },
  ),
  tenants: tenantsSchema,
  refresh: optionalDuration(
    'Age from which on keys that were fetched are fetched anew, in the background.',
    DEFAULT_KEY_REFRESH,
  ),
  maxStale: optionalDuration(
    'Age up to which they are used while the issuer does not answer; 503 `GW_AUTH_UNAVAILABLE` from then on.',
    DEFAULT_KEY_STALE,
  ),
  timeout: optionalDuration('Longest wait for the issuer, 1ms to 20s.', DEFAULT_KEY_TIMEOUT),
  tls: callTls,
}

/** A set of keys that is fetched. */
export interface RemoteJwksConfig {
  readonly url?: string
  readonly discovery?: string
  readonly issuer?: string
  readonly tenants?: readonly string[]
  readonly refresh?: string
  readonly maxStale?: string
  readonly timeout?: string
  readonly tls?: Static<typeof callTls>
}

type Written = Static<TObject<typeof keySource>>

/** A key as the configuration has it. */
export interface KeyConfig extends Written {
  readonly algorithms?: readonly string[]
}

/** A set of keys as the configuration has it. */
export type JwksConfig = Static<typeof jwksSchema>

/** `allowWeak`, wherever keys may be too short for today. */
export const allowWeakSchema = optionalFlag(
  false,
  'Takes RSA keys below 2048 bits or with an exponent below 65537, and secrets shorter than the hash. Not for production.',
)

/** What a key of the configuration is called in messages. */
export function keyName(i: number, { kid }: { readonly kid?: string }): string {
  return `key ${i + 1}${kid === undefined ? '' : ` ('${kid}')`}`
}
