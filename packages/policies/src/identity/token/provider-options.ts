import { type Static, Type } from '@sinclair/typebox'
import { tenantsSchema } from '../../crypto/jose/tenants.js'
import { callTls } from '../../shared/call/call-tls.js'
import { oneOf, optionalDuration, optionalList, string } from '../../shared/options/options.js'
import { DEFAULT_ALGORITHMS, DEFAULT_SKEW } from './token-options.js'

/** Default of `timeout`. */
export const DEFAULT_TIMEOUT = '5s'
/** Signature algorithms that use a public key. */
const ID_TOKEN_ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'PS256', 'PS384', 'PS512', 'RS256'] as const

/** Options that identify the provider and the client. */
export const providerOptions = {
  issuer: string(
    'Issuer of the provider. Its metadata are at `/.well-known/openid-configuration` (OpenID Connect Discovery).',
    { minLength: 1, maxLength: 2048, destination: true },
  ),
  tenants: tenantsSchema,
  algorithms: optionalList(
    oneOf(ID_TOKEN_ALGORITHMS, 'Signature algorithm.'),
    'Accepted signature algorithms of tokens.',
    { default: [...DEFAULT_ALGORITHMS], minItems: 1, uniqueItems: true },
  ),
  clockSkew: optionalDuration('Allowed clock difference.', DEFAULT_SKEW),
  timeout: optionalDuration('Timeout of each call to the provider, 1ms to 20s.', DEFAULT_TIMEOUT),
  tls: callTls,
}

const providerSchema = Type.Object(providerOptions)

/** Configuration of the provider, derived from its options. */
export type ProviderConfig = Static<typeof providerSchema>
