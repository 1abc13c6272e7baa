import { randomUUID } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { asymmetricSigner } from '../crypto/keys/signature.js'
import type { SignatureAlgorithm } from '../crypto/keys/signature-algorithm.js'
import { oneOf, optionalOneOf, optionalString, optionalText, string } from './options.js'

const ASSERTION_SECONDS = 60
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
/** What assertions are signed with. */
export const ASSERTION_ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'PS256', 'PS384', 'RS256'] as const

/** The keys by which a client of an authorization server says who it is (RFC 6749 section 2.3, RFC 7523, RFC 8705). */
export const clientAuthKeys = {
  clientId: string('The id of the client.', { minLength: 1, maxLength: 1024 }),
  clientSecret: optionalString('Its secret, by reference; for `basic` and `post`.', {
    secret: true,
    minLength: 1,
    maxLength: 4096,
  }),
  clientAuth: optionalOneOf(
    ['basic', 'post', 'private-key-jwt', 'tls'],
    'How the client proves who it is: its secret as Basic (`basic`) or in the form (`post`), a signed assertion (`private-key-jwt`, RFC 7523), or the certificate under `tls` (RFC 8705).',
    'basic',
  ),
  privateKey: optionalString('With `private-key-jwt`: the private key (PEM or JWK), by reference.', {
    secret: true,
    minLength: 1,
  }),
  keyId: optionalString('With `private-key-jwt`: the `kid` of the assertion.', {
    minLength: 1,
    maxLength: 256,
  }),
  algorithm: Type.Optional(oneOf(ASSERTION_ALGORITHMS, 'With `private-key-jwt`: its algorithm.', 'ES256')),
  assertionAudience: optionalText(
    2048,
    'With `private-key-jwt`: whom the assertion is meant for, its `aud`. Default: the address that is asked, with `oidc` the issuer; some providers want the other.',
  ),
}

/** What those keys hold. */
export interface ClientAuthConfig {
  readonly clientId: string
  readonly clientSecret?: string
  readonly clientAuth?: 'basic' | 'post' | 'private-key-jwt' | 'tls'
  readonly privateKey?: string
  readonly keyId?: string
  readonly algorithm?: SignatureAlgorithm
  readonly assertionAudience?: string
  /** Towards the server: the certificate stands there. */
  readonly tls?: { readonly certFile?: string }
}

/** Adds what proves the client to a form or to the fields (flat, lower-case names) of one call. */
export type ClientAuth = (form: URLSearchParams, fields: string[]) => void | Promise<void>

/** @param audience whom assertions are meant for where the configuration does not say. @throws Error when a key is missing or cannot be used. */
export function compileClientAuth(config: ClientAuthConfig, audience: string): ClientAuth {
  const { clientId, clientSecret, clientAuth = 'basic', tls } = config
  if (clientAuth === 'tls') {
    // Without one nobody would be proven, and a careless server might not mind.
    if (tls?.certFile === undefined) throw new Error("clientAuth: tls needs 'tls.certFile' and 'tls.keyFile'")
    return (form) => form.set('client_id', clientId)
  }
  if (clientAuth === 'private-key-jwt') return assertionAuth(config, audience)
  if (clientSecret === undefined) throw new Error(`clientAuth: ${clientAuth} needs 'clientSecret'`)
  if (clientAuth === 'post') {
    return (form) => {
      form.set('client_id', clientId)
      form.set('client_secret', clientSecret)
    }
  }
  const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`
  const value = `Basic ${Buffer.from(pair).toString('base64')}`
  return (_, fields) => void fields.push('authorization', value)
}

/** RFC 6749 section 2.3.1 has both encoded before they are joined. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}

function assertionAuth(config: ClientAuthConfig, audience: string): ClientAuth {
  const { clientId, privateKey, keyId, algorithm = 'ES256', assertionAudience = audience } = config
  if (privateKey === undefined) throw new Error("clientAuth: private-key-jwt needs 'privateKey'")
  const sign = compileJwtSigner({ key: privateKey, keyId, algorithm })
  return async (form) => {
    const now = Math.floor(Date.now() / 1000)
    const assertion = await sign({
      ...{ iss: clientId, sub: clientId, aud: assertionAudience, jti: randomUUID() },
      ...{ iat: now, exp: now + ASSERTION_SECONDS },
    })
    form.set('client_id', clientId)
    form.set('client_assertion_type', ASSERTION_TYPE)
    form.set('client_assertion', assertion)
  }
}

/** A key that signs tokens of the gateway. */
export interface JwtSigningKey {
  readonly key: string
  readonly keyId: string | undefined
  readonly algorithm: SignatureAlgorithm
}

/** Makes signed tokens (RFC 7519) of claims. @throws Error for a key that cannot be used. */
export function compileJwtSigner({
  key,
  keyId,
  algorithm,
}: JwtSigningKey): (claims: object) => Promise<string> {
  const sign = asymmetricSigner(algorithm, { id: keyId ?? 'privateKey', key })
  const header = encoded({ alg: algorithm, typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) })
  return async (claims) => {
    const input = `${header}.${encoded(claims)}`
    return `${input}.${(await sign(Buffer.from(input))).toString('base64url')}`
  }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
