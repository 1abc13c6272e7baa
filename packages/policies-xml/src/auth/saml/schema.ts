import { type Static, Type } from '@sinclair/typebox'
import { sharingOptions } from '@sluice/policies/crypto/replay/sharing-options'
import * as field from '@sluice/policies/shared/options/options'
import { textSource } from '@sluice/policies/shared/options/text-source'

/** Default of `clockSkew`. */
export const DEFAULT_SKEW = '60s'
/** Default of `name` for an assertion in a header. */
export const DEFAULT_HEADER = 'x-saml-assertion'
/** Default of `name` for an assertion in a form. */
export const DEFAULT_FIELD = 'SAMLResponse'
/** Name of the claim with the NameID. */
export const NAME_ID = 'nameId'

const claim = { minLength: 1, maxLength: 256 }
const address = { minLength: 1, maxLength: 1024 }

/** Schema of the identity provider. */
export const idpSchema = field.closed(
  'Identity provider: `metadata`, or `entityId` with `certificates`.',
  {
    metadata: Type.Optional(
      textSource(
        'the metadata (SAML Metadata 2.0). After its `validUntil`, assertions and logins are refused until a reload with newer metadata. The gateway log reports `saml_metadata_expired`, and `gw validate` refuses the document. `cacheDuration` is ignored, so update the file yourself',
      ),
    ),
    entityId: field.optionalString('Entity ID of the provider, the Issuer of its assertions.', address),
    certificates: field.optionalList(
      field.string('Certificate in PEM.', { minLength: 1, maxLength: 16_384 }),
      'Signing certificates. List several during a rollover.',
      { minItems: 1, maxItems: 16 },
    ),
    ssoUrl: field.optionalString('Login URL, for `saml-login`. Default: the one in the metadata.', address),
    allowExpired: field.optionalFlag(false, 'Accepts certificates outside their validity period.'),
  },
  {
    expects: '{ metadata: FILE }, or { entityId: NAME, certificates: [PEM] }',
    choice: { keys: ['metadata', 'entityId'], min: 1, max: 1 },
    deprecatedKeys: { metadataFile: 'metadata' },
  },
)

/** Options that map attributes to the consumer and to headers. */
export const attributeKeys = {
  consumerClaim: field.optionalString('Attribute with the consumer id. Default: the NameID.', {
    ...claim,
    default: NAME_ID,
  }),
  nameClaim: field.optionalString('Attribute with the consumer name. Default: the id.', claim),
  groupsClaim: field.optionalString('Attribute with the groups of the consumer.', claim),
  rolesClaim: field.optionalString('Attribute with the roles of the consumer.', claim),
  forwardClaims: Type.Optional(
    Type.Record(Type.String({ pattern: '^.{1,256}$' }), field.string('Header for the attribute.', claim), {
      description:
        'Headers for the upstream, by attribute. `nameId` is the NameID. Client headers with these names are removed.',
    }),
  ),
}

/** Schema of the `saml` configuration. */
export const samlSchema = field.policyOptions(
  {
    idp: idpSchema,
    audience: field.string('Entity ID of this service, the required audience of assertions.', address),
    recipient: field.optionalString(
      'Required `Recipient` of assertions. If absent, it is not checked.',
      address,
    ),
    from: field.optionalOneOf(
      ['header', 'body', 'soap-header', 'form'],
      'Location of the assertion. `header`: a header, in base64. `body`: the body, alone or in a `samlp:Response`. `soap-header`: the `wsse:Security` header of a SOAP message. `form`: a form field with a `samlp:Response` in base64.',
      'header',
    ),
    name: field.optionalString(
      'Header name, default `x-saml-assertion`, or form field name, default `SAMLResponse`.',
      { minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' },
    ),
    once: Type.Optional(
      Type.Boolean({
        description:
          'Accepts an assertion once, at most an hour after it was issued. Default: true for `form`. Assertions with `OneTimeUse` are always accepted only once.',
      }),
    ),
    replay: field.optionalClosed('Store of used assertions.', sharingOptions),
    clockSkew: field.optionalDuration('Allowed clock difference.', DEFAULT_SKEW),
    strip: field.optionalFlag(
      true,
      'Removes the header before the request goes to the upstream. Bodies stay unchanged.',
    ),
    ...attributeKeys,
  },
  [
    'Accepts signed SAML 2.0 assertions. Refusals are 401 `GW_AUTH_MISSING`, `GW_TOKEN_MALFORMED`, `GW_TOKEN_SIGNATURE`, `GW_TOKEN_EXPIRED`, `GW_TOKEN_NOT_YET_VALID`, `GW_TOKEN_ISSUER`, `GW_TOKEN_AUDIENCE` (also for another recipient, or an answer to a request) and `GW_TOKEN_REPLAYED`. `error.reason` in the traffic log gives details.',
    'The assertion must be at the expected location. The assertion or its response must be signed with RSA or ECDSA and SHA-256 or longer. The signature needs one reference to the ID of the element, with the enveloped-signature transform and exclusive canonicalization without comments. The policy removes the signature, computes the digest, and reads only the signed content. This defeats moved, wrapped and copied assertions. KeyInfo is ignored. Limits: no DOCTYPE, 256 KB, 32 levels, 5,000 nodes. Encrypted assertions are refused.',
    'The assertion needs an Issuer, a NameID, a bearer SubjectConfirmation, and Conditions with an end and an AudienceRestriction for `audience`. Unknown conditions count as not met. Texts that contain comments or elements are refused. A response must have version 2.0. If it has an `Issuer` or `InResponseTo`, or with `recipient` a `Destination`, these must be correct.',
    'Conditions read attributes as `consumer.claims["name"]`; lists are separated by spaces. Each value of `groupsClaim` and `rolesClaim` is one name and may contain spaces. Verified assertions from headers are cached until they or the signing certificate expire, at most 10,000 and 16 MB per worker.',
  ],
)

/** Configuration of `saml`, derived from its schema. */
export type SamlConfig = Static<typeof samlSchema>
