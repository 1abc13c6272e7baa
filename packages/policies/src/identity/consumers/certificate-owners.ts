import type { ClientCertificate, Consumer } from '@sluice/core'
import { nameKey } from './distinguished-name.js'

/** Conditions for the certificates of a consumer. All given conditions must match. */
export interface CertificateRule {
  /** Distinguished names of the subject and of the issuer. */
  readonly subject?: string
  readonly issuer?: string
  /** Alternative names, one of which must match: `DNS:a.example`, `URI:spiffe://example/billing`. */
  readonly names?: readonly string[]
  /** SHA-256 fingerprints of the certificate, one of which must match. Hexadecimal, with or without colons. */
  readonly fingerprints?: readonly string[]
}

interface Owner {
  readonly consumer: Consumer
  /** Required subject, or null for any. */
  readonly subject: string | null
  readonly issuer: string | null
  readonly names: readonly string[] | null
  readonly fingerprints: readonly string[] | null
}

/** Normalized attributes of a certificate, for comparison with rules. */
interface Facts {
  readonly subject: string | null
  readonly issuer: string | null
  readonly names: readonly string[]
  readonly fingerprint: string
}

const KIND = /^(?:DNS|URI|email|IP Address):./

/**
 * Assigns certificates to consumers. The most specific rule wins: a fingerprint, then a subject, then an alternative
 * name, then an issuer. Among equals the first one wins.
 *
 *     fingerprint │ subject │ name  →  owners, whose other conditions are compared one by one
 */
export class CertificateOwners {
  readonly #byFingerprint = new Map<string, Owner[]>()
  readonly #bySubject = new Map<string, Owner[]>()
  readonly #byName = new Map<string, Owner[]>()
  readonly #byIssuer = new Map<string, Owner[]>()

  /** Adds a rule. @throws Error for an empty rule or a value that no certificate can have. */
  add(rule: CertificateRule, consumer: Consumer): void {
    const owner: Owner = {
      consumer,
      subject: rule.subject === undefined ? null : nameOf(rule.subject, 'subject'),
      issuer: rule.issuer === undefined ? null : nameOf(rule.issuer, 'issuer'),
      names: rule.names?.map(alternativeName) ?? null,
      fingerprints: rule.fingerprints?.map(fingerprint) ?? null,
    }
    if (owner.fingerprints !== null) put(this.#byFingerprint, owner.fingerprints, owner)
    else if (owner.subject !== null) put(this.#bySubject, [owner.subject], owner)
    else if (owner.names !== null) put(this.#byName, owner.names, owner)
    else if (owner.issuer !== null) put(this.#byIssuer, [owner.issuer], owner)
    else throw new Error('a certificate needs a subject, names, an issuer or fingerprints')
  }

  /** Returns the owner of a certificate, or null. */
  find(certificate: ClientCertificate): Consumer | null {
    const facts: Facts = {
      subject: nameKey(certificate.subject),
      issuer: certificate.issuer === '' ? null : nameKey(certificate.issuer),
      names: certificate.names.map(comparable),
      fingerprint: certificate.fingerprint,
    }
    const owner =
      matching(this.#byFingerprint, [facts.fingerprint], facts) ??
      matching(this.#bySubject, [facts.subject ?? ''], facts) ??
      matching(this.#byName, facts.names, facts) ??
      matching(this.#byIssuer, [facts.issuer ?? ''], facts)
    return owner?.consumer ?? null
  }
}

function put(owners: Map<string, Owner[]>, keys: readonly string[], owner: Owner): void {
  for (const key of keys) {
    const known = owners.get(key)
    if (known === undefined) owners.set(key, [owner])
    else known.push(owner)
  }
}

function matching(
  owners: ReadonlyMap<string, readonly Owner[]>,
  keys: readonly string[],
  facts: Facts,
): Owner | undefined {
  for (const key of keys) {
    const owner = owners.get(key)?.find((each) => isMet(each, facts))
    if (owner !== undefined) return owner
  }
  return undefined
}

function isMet({ subject, issuer, names, fingerprints }: Owner, facts: Facts): boolean {
  if (fingerprints !== null && !fingerprints.includes(facts.fingerprint)) return false
  if (subject !== null && subject !== facts.subject) return false
  if (issuer !== null && issuer !== facts.issuer) return false
  return names === null || names.some((name) => facts.names.includes(name))
}

/**
 * Normalizes a distinguished name.
 * @throws Error for an invalid or an empty name, which many certificates could have.
 */
export function nameOf(text: string, what: string): string {
  const key = text.trim() === '' ? null : nameKey(text)
  if (key === null)
    throw new Error(`'${text}' is not a valid distinguished name of the ${what}; use the form CN=acme,O=Acme`)
  return key
}

function alternativeName(text: string): string {
  if (!KIND.test(text))
    throw new Error(
      `'${text}' is not an alternative name; it must start with DNS:, URI:, email: or 'IP Address:'`,
    )
  return comparable(text)
}

/** Normalizes an alternative name. DNS names are case-insensitive (RFC 5280 section 7.2). */
function comparable(name: string): string {
  return name.startsWith('DNS:') ? name.toLowerCase().replace('dns:', 'DNS:') : name
}

function fingerprint(text: string): string {
  const digits = text.replaceAll(':', '').toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(digits))
    throw new Error(
      `'${text}' is not a fingerprint; use the SHA-256 of the certificate, 64 hexadecimal digits`,
    )
  return digits
}
