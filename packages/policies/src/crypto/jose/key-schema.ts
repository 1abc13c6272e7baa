import { type Static, type TObject, Type } from '@sinclair/typebox'
import { callTls } from '../../shared/call/call-tls.js'
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
} from '../../shared/options/options.js'
import { tenantsSchema } from './tenants.js'

/** Maximum number of keys of a policy. */
export const MAX_KEYS = 100
/** Default of `secretEncoding`. */
export const DEFAULT_ENCODING = 'utf8'

/** Pattern of a configured media type. */
export const MEDIA_TYPE =
  '^[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}(; ?[A-Za-z0-9-]{1,64}=[A-Za-z0-9._-]{1,64})?$'

/** Maximum length of a key or a key set in characters. */
const MAX_KEY_TEXT = 1024 * 1024

function keyText(description: string, secret: boolean) {
  const options = { minLength: 1, maxLength: MAX_KEY_TEXT, description }
  return Type.Optional(Type.String(secret ? { secret: true, ...options } : options))
}

/** Members that define a key. Exactly one of `jwk`, `pem`, `file` and `secret` is required. */
export const keySource = {
  kid: optionalText(256, 'Key id. Default: the `kid` of the JWK, if any.'),
  jwk: keyText('Key as the JSON text of a JWK (RFC 7517), usually by reference.', true),
  pem: keyText('Key or certificate as PEM. The validity dates of a certificate are ignored.', true),
  file: optionalFile('File with the JWK or the PEM, read when the document is loaded.'),
  secret: keyText('Symmetric key, usually by reference.', true),
  secretEncoding: optionalOneOf(
    ['utf8', 'base64url', 'base64', 'hex'],
    'Encoding of `secret`.',
    DEFAULT_ENCODING,
  ),
}

/** Returns the members of a key for some of these algorithms. */
export function keyMembers<N extends string>(names: readonly N[]) {
  return {
    ...keySource,
    algorithms: optionalList(
      oneOf(names, 'Algorithm.'),
      'Algorithms of the key. Default: the `alg` of the JWK, or else all that fit its type.',
      { minItems: 1, uniqueItems: true },
    ),
  }
}

/** Schema of a key set (RFC 7517 section 5) in a file or in the document. */
export const jwksSchema = closed('Key set (JWKS): `file` or `inline`.', {
  file: optionalFile('File with the key set, read when the document is loaded.'),
  inline: keyText('JSON text of the key set.', true),
})

/** Default of `timeout`. */
export const DEFAULT_KEY_TIMEOUT = '5s'
/** Default of `refresh`. */
export const DEFAULT_KEY_REFRESH = '10m'
/** Default of `maxStale`. */
export const DEFAULT_KEY_STALE = '1d'

/** Members of a key set that may also be fetched from an issuer. */
export const remoteJwksMembers = {
  ...jwksSchema.properties,
  url: optionalString('Address of the key set of the issuer.', {
    minLength: 1,
    maxLength: 2048,
    destination: true,
  }),
  discovery: optionalString(
    'Issuer with metadata under `/.well-known/openid-configuration`, which contains the address of its keys (OpenID Connect Discovery). The keys are valid only for this issuer. An address on another origin must not be a link-local address or a cloud metadata service.',
    { minLength: 1, maxLength: 2048, destination: true },
  ),
  tenants: tenantsSchema,
  refresh: optionalDuration(
    'Age at which fetched keys are refreshed in the background.',
    DEFAULT_KEY_REFRESH,
  ),
  maxStale: optionalDuration(
    'Maximum age of fetched keys while the issuer does not respond. Older keys cause 503 `GW_AUTH_UNAVAILABLE`.',
    DEFAULT_KEY_STALE,
  ),
  timeout: optionalDuration('Timeout of calls to the issuer, 1ms to 20s.', DEFAULT_KEY_TIMEOUT),
  tls: callTls,
}

/** Configuration of a fetched key set. */
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

/** Configuration of a key. */
export interface KeyConfig extends Written {
  readonly algorithms?: readonly string[]
}

/** Configuration of a key set. */
export type JwksConfig = Static<typeof jwksSchema>

/** Schema of `allowWeak`, for policies with keys that may be too short. */
export const allowWeakSchema = optionalFlag(
  false,
  'Accept RSA keys below 2048 bits or with an exponent below 65537, and secrets shorter than the hash. Not for production.',
)

/** Returns the name of a configured key in messages. */
export function keyName(i: number, { kid }: { readonly kid?: string }): string {
  return `key ${i + 1}${kid === undefined ? '' : ` ('${kid}')`}`
}
