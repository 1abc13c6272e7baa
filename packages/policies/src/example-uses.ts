import { type KeyObject, randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Policy } from '@sluice/core'
import { keyPair } from '@sluice/core/testing'
import { parse } from 'yaml'
import { hashKey } from './auth/api-key/key.js'
import { makeCertificate } from './crypto/keys/testing/make-certificate.js'
import { exampleOf } from './reference.js'

/** Path of a small location database. */
const PLACES = fileURLToPath(new URL('../../logger/samples/places.mmdb', import.meta.url))

/** Returns values for the `${env:...}` references in the examples. */
function exampleValues(): Readonly<Record<string, string>> {
  const ec = keyPair('ec', { namedCurve: 'P-256' })
  const ecJwk = JSON.stringify(ec.publicKey.export({ format: 'jwk' }))
  const rsa = keyPair('rsa', { modulusLength: 2048 })
  const acme = makeCertificate({ name: 'acme' })
  const gateway = makeCertificate({ name: 'gateway' })
  return {
    ACME_HASH: `$scrypt$ln=10,r=8,p=1$${'c2FsdHNhbHQ'}$${'A'.repeat(43)}`,
    ACME_OLD_KEY_SHA256: hashKey('the old key of acme'),
    ACME_NEW_KEY_SHA256: hashKey('the new key of acme'),
    ISSUER_JWK: ecJwk.replaceAll('"', '\\"'),
    CLIENT_JWK: ecJwk.replaceAll('"', '\\"'),
    SIGNING_KEY: pem(ec.privateKey),
    DECRYPTION_KEY: pem(rsa.privateKey),
    ACME_PUBLIC_KEY: pem(keyPair('ed25519').publicKey),
    ACME_NEXT_PUBLIC_KEY: pem(keyPair('ed25519').publicKey),
    PARTNER_PUBLIC_KEY: pem(keyPair('rsa', { modulusLength: 2048 }).publicKey),
    GATEWAY_PRIVATE_KEY: pem(keyPair('ec', { namedCurve: 'P-256' }).privateKey),
    REDACT_SECRET: randomBytes(32).toString('hex'),
    ACME_PASSWORD: 'correct horse',
    IDP_CERTIFICATE: escapedLines(acme.certificatePem),
    ACME_CERTIFICATE: escapedLines(acme.certificatePem),
    WSS_KEY: escapedLines(gateway.keyPem),
    WSS_CERTIFICATE: escapedLines(gateway.certificatePem),
    FIELD_KEY: randomBytes(32).toString('base64'),
    FIELD_KEY_BEFORE: randomBytes(32).toString('base64'),
    LDAP_PASSWORD: 'directory secret',
    AUDIT_TOKEN: randomBytes(16).toString('hex'),
    SESSION_SECRET: randomBytes(32).toString('hex'),
    BACKEND_SECRET: randomBytes(32).toString('hex'),
    AWS_KEY_ID: 'AKIDEXAMPLE',
    WEBHOOK_SECRET: randomBytes(32).toString('hex'),
    GEO_FILE: PLACES,
    GEO_NETWORK_FILE: PLACES,
    FAULT_KEY: randomBytes(16).toString('hex'),
    WEBHOOK_SECRET_BEFORE: randomBytes(32).toString('hex'),
  }
}

let values: ReturnType<typeof exampleValues> | null = null

function pem(key: KeyObject): string {
  const type = key.type === 'private' ? 'pkcs8' : 'spki'
  return escapedLines(String(key.export({ type, format: 'pem' })))
}

/**
 * Escapes line breaks. References in a document keep them as they are, but text inserted into YAML needs
 * escapes.
 */
function escapedLines(text: string): string {
  return text.replaceAll('\n', '\\n')
}

/** Returns the policy uses in the example of a policy, with values for its references. */
export function exampleUses(policy: Policy): { readonly use: string; readonly with: unknown }[] {
  values ??= exampleValues()
  const known = values
  const text = exampleOf(policy).replaceAll(/\$\{env:(\w+)\}/g, (_, name: string) => known[name] ?? '')
  return parse(text)
}
