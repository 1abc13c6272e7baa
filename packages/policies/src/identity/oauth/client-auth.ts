import { randomUUID } from 'node:crypto'
import type { TObject } from '@sinclair/typebox'
import { type Configured, FORM_TYPE, type HttpCall } from '@sluice/core'
import { asymmetricSigner } from '../../crypto/keys/signature.js'
import type { SignatureAlgorithm } from '../../crypto/keys/signature-algorithm.js'
import { optionalOneOf, optionalString, optionalText, text } from '../../shared/options/options.js'

const ASSERTION_SECONDS = 60
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
/** Signature algorithms of client assertions. */
export const ASSERTION_ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'PS256', 'PS384', 'RS256'] as const

/** Options with which a client authenticates to an authorization server (RFC 6749 section 2.3, RFC 7523, RFC 8705). */
export const clientAuthKeys = {
  clientId: text(1024, 'Client id.'),
  clientSecret: optionalText(4096, 'Client secret, by reference. Required by `basic` and `post`.', {
    secret: true,
  }),
  clientAuth: optionalOneOf(
    ['basic', 'post', 'private-key-jwt', 'tls'],
    'Client authentication: the secret as Basic credentials (`basic`) or in the form (`post`), a signed assertion (`private-key-jwt`, RFC 7523), or the certificate under `tls` (RFC 8705).',
    'basic',
  ),
  privateKey: optionalString('Private key (PEM or JWK) for `private-key-jwt`, by reference.', {
    secret: true,
    minLength: 1,
  }),
  keyId: optionalText(256, 'The `kid` of the assertion for `private-key-jwt`.'),
  algorithm: optionalOneOf(ASSERTION_ALGORITHMS, 'Signature algorithm for `private-key-jwt`.', 'ES256'),
  assertionAudience: optionalText(
    2048,
    'The `aud` of the assertion for `private-key-jwt`. Default: the address of the endpoint, or the issuer with `oidc`. Some providers require the other one.',
  ),
}

/** Values of `clientAuthKeys`, and the TLS options for the server, with the client certificate. */
export type ClientAuthConfig = Configured<TObject<typeof clientAuthKeys>> & {
  readonly tls?: { readonly certFile?: string }
}

/** Adds the client credentials to the form or the headers (flat list, lower-case names) of a call. */
type ClientAuth = (form: URLSearchParams, fields: string[]) => void | Promise<void>

/** Builds an authenticated call that posts a form. @param fields additional headers, as a flat list. */
export type BuildClientCall = (
  parameters: Readonly<Record<string, string>>,
  fields?: readonly string[],
) => Promise<Omit<HttpCall, 'path'>>

/**
 * Compiles the calls of a client to an authorization server.
 * @param audience default audience of assertions.
 * @throws Error for a missing or unusable key.
 */
export function compileClientCalls(config: ClientAuthConfig, audience: string): BuildClientCall {
  const authenticate = compileClientAuth(config, audience)
  return async (parameters, fields = []) => {
    const form = new URLSearchParams(parameters)
    const headers = ['content-type', FORM_TYPE, 'accept', 'application/json', ...fields]
    await authenticate(form, headers)
    return { method: 'POST', headers, body: Buffer.from(form.toString()) }
  }
}

function compileClientAuth(config: ClientAuthConfig, audience: string): ClientAuth {
  const { clientId, clientSecret, clientAuth, tls } = config
  if (clientAuth === 'tls') {
    // Without a certificate the client would not be authenticated, and a lax server might accept that.
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

/** Encodes one part of Basic credentials. RFC 6749 section 2.3.1 requires form encoding before joining. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}

function assertionAuth(config: ClientAuthConfig, audience: string): ClientAuth {
  const { clientId, privateKey, keyId, algorithm, assertionAudience = audience } = config
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

/** Compiles a function that creates signed tokens (RFC 7519). @throws Error for an unusable key. */
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
