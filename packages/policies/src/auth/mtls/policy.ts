import {
  type ClientCertificate,
  type CompileEnv,
  type Consumer,
  consumerOf,
  definePolicy,
  type Exchange,
  headerJoined,
  type Outcome,
} from '@sluice/core'
import { LRUCache } from 'lru-cache'
import { CertificateOwners, nameOf } from '../../identity/consumers/certificate-owners.js'
import { hasControls } from '../../identity/consumers/consumer-entry.js'
import { nameKey, parseDistinguishedName } from '../../identity/consumers/distinguished-name.js'
import { withContext } from '../../shared/outcome/with-context.js'
import { forwardedCertificate } from './forwarded-certificate.js'
import { type MtlsConfig, mtlsSchema } from './schema.js'

const FIELD = 'x-forwarded-client-cert'
/** Maximum total length of cached field values, in characters. */
const MAX_REMEMBERED = 4 * 1024 * 1024
/** Maximum length of an id taken from a certificate. */
const MAX_ID = 256

/** Authenticates the consumer by a client certificate. */
export const mtls = definePolicy({
  name: 'mtls',
  summary: 'Authenticates callers by a client certificate, from the connection or from a trusted proxy.',
  schema: mtlsSchema,
  authenticates: () => 'request',
  clientCertificates: ({ from }) => (from === 'xfcc' ? 'forwarded' : 'connection'),
  compile(config, env) {
    const identities = new Identities(config)
    const refusals = compileRefusals(env)
    const certificateOf = config.from === 'xfcc' ? forwarded(config) : connected
    const onRequest = (x: Exchange): Outcome => {
      const certificate = certificateOf(x)
      if (certificate === null) return refusals.missing
      if (certificate === UNREADABLE) return refusals.invalid
      if (x.startedAt >= certificate.expiresAt) return refusals.expired
      const consumer = identities.of(certificate)
      if (consumer === null) return refusals.invalid
      x.clientCertificate = certificate
      x.identify(consumer)
      return null
    }
    return { name: 'mtls', onRequest }
  },
})

const UNREADABLE = 'unreadable'

function connected(x: Exchange): ClientCertificate | null {
  return x.clientCertificate
}

/**
 * Reads the certificate from the field. The listener removes the field from requests that do not come from a
 * trusted proxy.
 */
function forwarded({ xfccElement }: MtlsConfig) {
  const known = new LRUCache<string, ClientCertificate>({
    maxSize: MAX_REMEMBERED,
    sizeCalculation: (_, value) => value.length,
  })
  return (x: Exchange): ClientCertificate | typeof UNREADABLE | null => {
    const value = headerJoined(x.headers, FIELD)
    if (value === null || value === '') return null
    const before = known.get(value)
    if (before !== undefined) return before
    const certificate = forwardedCertificate(value, xfccElement)
    if (certificate === null) return UNREADABLE
    known.set(value, certificate)
    return certificate
  }
}

/** Maps certificates to consumers. The result is cached per connection, or per field value. */
class Identities {
  readonly #known = new WeakMap<ClientCertificate, { readonly consumer: Consumer | null }>()
  readonly #owners = new CertificateOwners()
  readonly #issuers: ReadonlySet<string> | null
  readonly #idFrom: MtlsConfig['idFrom']

  /** @throws Error if a name is invalid, or if no certificate could ever be accepted. */
  constructor({ consumers = [], issuers, idFrom }: MtlsConfig) {
    if (consumers.length === 0 && idFrom === undefined)
      throw new Error("no client could be accepted; configure 'consumers' or 'idFrom'")
    this.#idFrom = idFrom
    this.#issuers = issuers === undefined ? null : new Set(issuers.map((name) => nameOf(name, 'issuer')))
    for (const [i, { id, name = id, groups = [], roles, scopes, ...rule }] of consumers.entries()) {
      const known = { name, groups, roles: roles ?? null, scopes: scopes ?? null }
      withContext(`consumer ${i + 1} ('${id}'):`, () => this.#owners.add(rule, consumerOf('mtls', id, known)))
    }
  }

  of(certificate: ClientCertificate): Consumer | null {
    const known = this.#known.get(certificate)
    if (known !== undefined) return known.consumer
    const found = this.#isIssuerAccepted(certificate) ? this.#find(certificate) : null
    const consumer = found === null ? null : { ...found, credential: certificate.fingerprint }
    this.#known.set(certificate, { consumer })
    return consumer
  }

  #isIssuerAccepted({ issuer }: ClientCertificate): boolean {
    if (this.#issuers === null) return true
    const key = issuer === '' ? null : nameKey(issuer)
    return key !== null && this.#issuers.has(key)
  }

  #find(certificate: ClientCertificate): Consumer | null {
    const owner = this.#owners.find(certificate)
    if (owner !== null || this.#idFrom === undefined) return owner
    const id = idOf(certificate, this.#idFrom)
    return id === '' || id.length > MAX_ID ? null : consumerOf('mtls', id)
  }
}

/** Returns the id from a certificate, or '' if it has none or several. */
function idOf(certificate: ClientCertificate, from: NonNullable<MtlsConfig['idFrom']>): string {
  if (from === 'subject' || from === 'fingerprint') return certificate[from]
  if (from === 'common-name') {
    const attributes = (parseDistinguishedName(certificate.subject) ?? []).flat()
    return only(attributes.filter(({ type }) => type === 'CN').map(({ value }) => value))
  }
  const kind = from === 'email' ? 'email:' : `${from.toUpperCase()}:`
  const names = certificate.names.filter((name) => name.startsWith(kind))
  return only(names.map((name) => name.slice(kind.length)))
}

function only(values: readonly string[]): string {
  return values.length === 1 && !hasControls(values[0]!) ? values[0]!.normalize('NFC') : ''
}

function compileRefusals(env: CompileEnv) {
  const challenge = ['www-authenticate', 'ClientCertificate']
  return {
    missing: env.refusal('GW_AUTH_MISSING', 'connect with a client certificate', challenge),
    invalid: env.refusal('GW_AUTH_INVALID', 'the client certificate is not accepted', challenge),
    expired: env.refusal(
      'GW_AUTH_EXPIRED',
      'the client certificate has expired; connect with a new one',
      challenge,
    ),
  }
}
