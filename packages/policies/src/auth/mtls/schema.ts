import type { Configured } from '@sluice/core'
import * as field from '../../shared/options/options.js'

const text = { minLength: 1, maxLength: 256 }
const NAME = { minLength: 1, maxLength: 4096 }

function names(what: string, item: string) {
  return field.optionalList(field.string(item, text), what, { maxItems: 100 })
}

const owner = field.closed('A consumer and its certificates. A certificate must match all of the criteria.', {
  id: field.string('Consumer id.', text),
  name: field.optionalText(256, 'Consumer name. Default: the id.'),
  groups: names('Groups of the consumer.', 'A group name.'),
  roles: names('Roles of the consumer.', 'A role.'),
  scopes: names('Scopes of the consumer.', 'A scope.'),
  subject: field.optionalString(
    'Subject in RFC 4514 format, common name first: `CN=billing,O=Example`.',
    NAME,
  ),
  issuer: field.optionalString('Issuer in the same format.', NAME),
  names: field.optionalList(
    field.string('An alternative name: `DNS:a.example`, `URI:spiffe://example/billing`, `email:…`.', NAME),
    'Alternative names, one of which the certificate must have.',
    { minItems: 1, maxItems: 100 },
  ),
  fingerprints: field.optionalList(
    field.string('SHA-256 of the certificate, 64 hexadecimal digits, with or without colons.', {
      maxLength: 95,
    }),
    'Fingerprints of accepted certificates.',
    { minItems: 1, maxItems: 100 },
  ),
})

/** Schema of the configuration of `mtls`. */
export const mtlsSchema = field.policyOptions(
  {
    from: field.optionalOneOf(
      ['connection', 'xfcc'],
      'Source of the certificate: `connection` means verified by the listener (`engine: node` with `tls.clientCaFile`), `xfcc` means the field `x-forwarded-client-cert` of a proxy in `trustedProxies` that has verified it.',
      'connection',
    ),
    xfccElement: field.optionalOneOf(
      ['only', 'first', 'last'],
      'Element of `x-forwarded-client-cert` to use if proxies have added several: `last` is the client of the nearest proxy, `first` that of the first proxy. `only` refuses more than one.',
      'only',
    ),
    issuers: field.optionalList(
      field.string('A distinguished name in RFC 4514 format.', NAME),
      'Accepted issuers. Default: all that the listener accepts. With `x-forwarded-client-cert` the proxy must send `Cert`.',
      { minItems: 1, maxItems: 100 },
    ),
    consumers: field.optionalList(
      owner,
      'Consumers and their certificates. A fingerprint match takes precedence over a subject, a subject over an alternative name, and that over an issuer. Among equals the first entry wins.',
      { minItems: 1, maxItems: 10_000 },
    ),
    idFrom: field.optionalOneOf(
      ['subject', 'common-name', 'dns', 'uri', 'email', 'fingerprint'],
      'Part of the certificate to use as consumer id if no entry of `consumers` matches. It must occur exactly once. Without it such a certificate is refused.',
    ),
  },
  [
    'A missing certificate gets 401 `GW_AUTH_MISSING`. A certificate that matches no consumer, or whose issuer is not in `issuers`, gets 401 `GW_AUTH_INVALID`. One that has expired since the connection was opened gets 401 `GW_AUTH_EXPIRED`. `consumer.credential` is the fingerprint.',
    "`x-forwarded-client-cert` is read in Envoy's format. The listener removes it from requests of clients that are not in `trustedProxies`. A trusted proxy must replace the client's value (`SANITIZE_SET` in Envoy). An element needs `Hash`. If it has `Cert`, only that certificate counts, and it must match the hash. Repeated keys and malformed values are refused. Envoy writes names without quotes: if an authority signs names that contain `;`, make the proxy send `Cert`. Conditions see this certificate as the client certificate.",
    '`gw validate` rejects a document if none of its listeners can provide client certificates.',
  ],
)

/** Configuration of `mtls`, derived from its schema. */
export type MtlsConfig = Configured<typeof mtlsSchema>
