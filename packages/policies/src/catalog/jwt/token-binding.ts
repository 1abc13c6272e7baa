import type { ClientCertificate } from '@sluice/core'
import { isJsonObject, type JsonObject, memberOf } from '../../engines/json/strict-json.js'

const MEMBER = 'x5t#S256'

/** Who may present a token: everybody (null), or who has the certificate with this fingerprint. */
export type TokenBinding = ClientCertificate['fingerprint'] | null

/**
 * What the claim `cnf` binds a token to (RFC 7800, 3.1; RFC 8705, 3.1). Undefined: to something whose proof cannot be checked
 * here, such as the key of a DPoP proof; whoever brings such a token may have stolen it.
 */
export function bindingOf(claims: JsonObject): TokenBinding | undefined {
  const cnf = memberOf(claims, 'cnf')
  if (cnf === undefined) return null
  if (!isJsonObject(cnf) || Object.keys(cnf).length !== 1) return undefined
  const digest = memberOf(cnf, MEMBER)
  if (typeof digest !== 'string' || !/^[\w-]{43}$/.test(digest)) return undefined
  return Buffer.from(digest, 'base64url').toString('hex')
}

/** Whether the client on the other end may present a token with this binding. */
export function isHolder(certificate: ClientCertificate | null, binding: TokenBinding): boolean {
  return binding === null || certificate?.fingerprint === binding
}
