import type { ClientCertificate } from '@sluice/core'
import { isJsonObject, type JsonObject, memberOf } from '../../shared/json/strict-json.js'

const MEMBER = 'x5t#S256'

/** Fingerprint of the certificate that a token is bound to, or null if it is not bound. */
export type TokenBinding = ClientCertificate['fingerprint'] | null

/**
 * Returns the binding in the claim `cnf` (RFC 7800, 3.1; RFC 8705, 3.1). Returns undefined if the token is
 * bound to something that cannot be verified here, such as a DPoP key. Such a token may be stolen.
 */
export function bindingOf(claims: JsonObject): TokenBinding | undefined {
  const cnf = memberOf(claims, 'cnf')
  if (cnf === undefined) return null
  if (!isJsonObject(cnf) || Object.keys(cnf).length !== 1) return undefined
  const digest = memberOf(cnf, MEMBER)
  if (typeof digest !== 'string' || !/^[\w-]{43}$/.test(digest)) return undefined
  return Buffer.from(digest, 'base64url').toString('hex')
}

/** True if a client with this certificate may present a token with this binding. */
export function isHolder(certificate: ClientCertificate | null, binding: TokenBinding): boolean {
  return binding === null || certificate?.fingerprint === binding
}
