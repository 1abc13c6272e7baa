import { type Static, Type } from '@sinclair/typebox'
import { sharingOptions } from '../../crypto/replay/sharing-options.js'
import {
  closed,
  optionalClosed,
  optionalDuration,
  optionalFile,
  optionalFlag,
  optionalList,
  optionalOneOf,
  optionalString,
  policyOptions,
  string,
} from '../../shared/options.js'

/** Default of `clockSkew`. */
export const DEFAULT_SKEW = '60s'
/** Default of `name` where the assertion is in a header, and where it is in a form. */
export const DEFAULT_HEADER = 'x-saml-assertion'
export const DEFAULT_FIELD = 'SAMLResponse'
/** The claim that holds the NameID. */
export const NAME_ID = 'nameId'

const claim = { minLength: 1, maxLength: 256 }
const address = { minLength: 1, maxLength: 1024 }

/** Whose assertions are taken. */
export const idpSchema = closed(
  'The identity provider: `metadataFile`, or `entityId` with `certificates`.',
  {
    metadataFile: optionalFile(
      'Its metadata (SAML Metadata 2.0), read at load. Past its `validUntil` no assertion is taken and no login begun until a reload with a newer file (`saml_metadata_expired` in the gateway’s log); `gw validate` refuses the document. `cacheDuration` is not looked at: getting the file anew is left to you.',
    ),
    entityId: optionalString('Its name, the Issuer of its assertions.', address),
    certificates: optionalList(
      string('A certificate in PEM.', { minLength: 1, maxLength: 16_384 }),
      'The certificates that it signs with; several for the time of a change.',
      { minItems: 1, maxItems: 16 },
    ),
    ssoUrl: optionalString(
      'For `saml-login`: where it logs users in; default: that of the metadata.',
      address,
    ),
    allowExpired: optionalFlag(false, 'Takes certificates outside of their time of validity.'),
  },
  {
    expects: '{ metadataFile: FILE }, or { entityId: NAME, certificates: [PEM] }',
    choice: { keys: ['metadataFile', 'entityId'], min: 1, max: 1 },
  },
)

/** What attributes become. */
export const attributeKeys = {
  consumerClaim: optionalString('The attribute that is the id of the consumer; default: the NameID.', {
    ...claim,
    default: NAME_ID,
  }),
  nameClaim: optionalString('The attribute that is its name; default: the id.', claim),
  groupsClaim: optionalString('The attribute with its groups.', claim),
  rolesClaim: optionalString('The attribute with its roles.', claim),
  forwardClaims: Type.Optional(
    Type.Record(Type.String({ pattern: '^.{1,256}$' }), string('The header for it.', claim), {
      description:
        'Headers for the upstream, by attribute; `nameId` is the NameID. What the client sent under those names is removed.',
    }),
  ),
}

/** The configuration of `saml`. */
export const samlSchema = policyOptions(
  {
    idp: idpSchema,
    audience: string('The name of this service at the provider: an assertion has to be for it.', address),
    recipient: optionalString(
      'The address that an assertion has to be sent to, by `Recipient`; absent: not checked.',
      address,
    ),
    from: optionalOneOf(
      ['header', 'body', 'soap-header', 'form'],
      'Where the assertion stands: in Base64 in a header; as the body, alone or in a `samlp:Response`; in the `wsse:Security` header of a SOAP message; or as a `samlp:Response` in Base64 in the field of a form.',
      'header',
    ),
    name: optionalString(
      'The header, default `x-saml-assertion`, or the field of the form, default `SAMLResponse`.',
      { minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' },
    ),
    once: Type.Optional(
      Type.Boolean({
        description:
          'Takes an assertion once, and no later than an hour after it was issued. Default: true for `form`. One that says `OneTimeUse` is taken once in any case.',
      }),
    ),
    replay: optionalClosed('How it is remembered which assertions were used.', sharingOptions),
    clockSkew: optionalDuration('How far clocks may differ.', DEFAULT_SKEW),
    strip: optionalFlag(
      true,
      'Removes the header before the upstream sees the request. Bodies stay as they are.',
    ),
    ...attributeKeys,
  },
  [
    'Takes signed assertions of SAML 2.0. Refusals are 401 `GW_AUTH_MISSING`, `GW_TOKEN_MALFORMED`, `GW_TOKEN_SIGNATURE`, `GW_TOKEN_EXPIRED`, `GW_TOKEN_NOT_YET_VALID`, `GW_TOKEN_ISSUER`, `GW_TOKEN_AUDIENCE` (also of another recipient, or an answer to a request) and `GW_TOKEN_REPLAYED`; `error.reason` in the traffic log says more.',
    'The assertion is found by its place, and has to be signed by itself or as a part of its response: with RSA or ECDSA and SHA-256 or longer, by one reference to its own ID, through the enveloped-signature transform and exclusive canonicalization, without comments. The signature is taken out before its digest is made, and nothing is read but what is left; so an assertion that was moved, wrapped or copied is none. KeyInfo is not looked at. There is no DOCTYPE, at most 256 KB, 32 levels and 5,000 nodes. Encrypted assertions are refused.',
    'It needs an Issuer, a NameID, Conditions with an end and an AudienceRestriction for `audience`, and a SubjectConfirmation by bearer. Conditions that are not known are not met. Texts with comments or elements in them are refused. A response has to be of version 2.0; an `Issuer`, an `InResponseTo` and, with `recipient`, a `Destination` that it names have to be right.',
    'Attributes are in conditions as `consumer.claims["name"]`, a list with spaces between its items. Each value of `groupsClaim` and `rolesClaim` is one name, with its spaces. An assertion in a header that was verified is remembered until it or the certificate of its signer ends, at most 10,000 and 16 MB of them by a worker.',
  ],
)

/** The configuration of `saml`, derived from its schema. */
export type SamlConfig = Static<typeof samlSchema>
