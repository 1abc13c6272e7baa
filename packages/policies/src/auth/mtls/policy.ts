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
    const identify = identities(config)
    const refusals = compileRefusals(env)
    const certificateOf = config.from === 'xfcc' ? forwarded(config) : connected
    const onRequest = (x: Exchange): Outcome => {
      const certificate = certificateOf(x)
      if (certificate === null) return refusals.missing
      if (certificate === UNREADABLE) return refusals.invalid
      if (x.startedAt >= certificate.expiresAt) return refusals.expired
      const consumer = identify(certificate)
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

/**
 * Returns a function that maps certificates to consumers. The result is cached per connection, or per field
 * value.
 * @throws Error if a name is invalid, or if no certificate could ever be accepted.
 */
function identities({ consumers = [], issuers, idFrom }: MtlsConfig) {
  if (consumers.length === 0 && idFrom === undefined)
    throw new Error("no client could be accepted; configure 'consumers' or 'idFrom'")
  const accepted = issuers === undefined ? null : new Set(issuers.map((name) => nameOf(name, 'issuer')))
  const owners = new CertificateOwners()
  for (const [i, { id, name = id, groups = [], roles, scopes, ...rule }] of consumers.entries()) {
    const known = { name, groups, roles: roles ?? null, scopes: scopes ?? null }
    withContext(`consumer ${i + 1} ('${id}'):`, () => owners.add(rule, consumerOf('mtls', id, known)))
  }
  const find = (certificate: ClientCertificate): Consumer | null => {
    const { issuer } = certificate
    const key = accepted === null || issuer === '' ? null : nameKey(issuer)
    if (accepted !== null && (key === null || !accepted.has(key))) return null
    const owner = owners.find(certificate)
    if (owner !== null || idFrom === undefined) return owner
    const id = idOf(certificate, idFrom)
    return id === '' || id.length > MAX_ID ? null : consumerOf('mtls', id)
  }
  const cache = new WeakMap<ClientCertificate, { readonly consumer: Consumer | null }>()
  return (certificate: ClientCertificate): Consumer | null => {
    const known = cache.get(certificate)
    if (known !== undefined) return known.consumer
    const found = find(certificate)
    const consumer = found === null ? null : { ...found, credential: certificate.fingerprint }
    cache.set(certificate, { consumer })
    return consumer
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
