import type { Static } from '@sinclair/typebox'
import {
  closed,
  optionalList,
  optionalOneOf,
  optionalString,
  optionalText,
  policyOptions,
  string,
} from '../../shared/options.js'

const text = { minLength: 1, maxLength: 256 }
const NAME = { minLength: 1, maxLength: 4096 }

function names(what: string, item: string) {
  return optionalList(string(item, text), what, { maxItems: 100 })
}

const owner = closed('Whose certificates are whose: one has to meet all that is named here.', {
  id: string('The id of the consumer.', text),
  name: optionalText(256, 'The name of the consumer; default: the id.'),
  groups: names('Groups of the consumer.', 'A group name.'),
  roles: names('Roles of the consumer.', 'A role.'),
  scopes: names('Scopes of the consumer.', 'A scope.'),
  subject: optionalString(
    'The subject, as in RFC 4514, the common name first: `CN=billing,O=Example`.',
    NAME,
  ),
  issuer: optionalString('The authority that has signed it, likewise.', NAME),
  names: optionalList(
    string('An alternative name: `DNS:a.example`, `URI:spiffe://example/billing`, `email:…`.', NAME),
    'Alternative names, of which it has one.',
    { minItems: 1, maxItems: 100 },
  ),
  fingerprints: optionalList(
    string('SHA-256 of the certificate, 64 hexadecimal digits, also with colons.', { maxLength: 95 }),
    'It is one of these certificates.',
    { minItems: 1, maxItems: 100 },
  ),
})

/** The configuration of `mtls`. */
export const mtlsSchema = policyOptions(
  {
    from: optionalOneOf(
      ['connection', 'xfcc'],
      'Where the certificate is: on the connection, verified by the listener (`engine: node` with `tls.clientCaFile`), or in the field `x-forwarded-client-cert` of a proxy in `trustedProxies` that has verified it.',
      'connection',
    ),
    xfccElement: optionalOneOf(
      ['only', 'first', 'last'],
      'Which element of `x-forwarded-client-cert` counts where proxies have added some: `last` is what the proxy in front has seen, `first` the client of the first proxy; `only` refuses more than one.',
      'only',
    ),
    issuers: optionalList(
      string('A distinguished name, as in RFC 4514.', NAME),
      'Authorities whose certificates are taken; default: all that the listener takes. In `x-forwarded-client-cert` the proxy has to send `Cert`.',
      { minItems: 1, maxItems: 100 },
    ),
    consumers: optionalList(
      owner,
      'Whose certificates are whose. A fingerprint decides before a subject, that before an alternative name, that before an issuer; among equals the first.',
      { minItems: 1, maxItems: 10_000 },
    ),
    idFrom: optionalOneOf(
      ['subject', 'common-name', 'dns', 'uri', 'email', 'fingerprint'],
      'What is the id of the consumer where no entry of `consumers` is for the certificate; it has to stand there once. Absent: such a certificate is refused.',
    ),
  },
  [
    'Without a certificate the answer is 401 `GW_AUTH_MISSING`; with one that is nobody’s, or whose issuer is not among `issuers`, 401 `GW_AUTH_INVALID`; with one that has expired since the connection began 401 `GW_AUTH_EXPIRED`. `consumer.credential` is the fingerprint.',
    '`x-forwarded-client-cert` is read as Envoy writes it. The listener removes it from requests of everybody who is not in `trustedProxies`; a trusted proxy has to replace what its client wrote (in Envoy `SANITIZE_SET`). An element needs `Hash`; where it has `Cert`, that certificate counts, and has to have this hash. What stands twice, or is not of the grammar, is refused. Envoy writes names without quotes: where an authority signs names with `;` in them, have the proxy send `Cert`, which counts alone. Conditions then see this certificate as that of the client.',
    '`gw validate` refuses a document none of whose listeners can provide the certificates.',
  ],
)

/** The configuration of `mtls`, derived from its schema. */
export type MtlsConfig = Static<typeof mtlsSchema>
