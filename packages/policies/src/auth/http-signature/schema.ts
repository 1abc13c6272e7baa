import { type Static, Type } from '@sinclair/typebox'
import { sharingOptions } from '../../crypto/replay/sharing-options.js'
import * as field from '../../shared/options/options.js'

/** Default of `maxAge`. */
export const DEFAULT_MAX_AGE = '5m'
/** Default of `clockSkew`. */
export const DEFAULT_CLOCK_SKEW = '1m'
/** Default of `label` for signing. */
export const DEFAULT_LABEL = 'sluice'
/** Default of `replay.maxEntries`. */
export const DEFAULT_REPLAY_ENTRIES = 100_000
const LABEL = '^[a-z*][a-z0-9_.*-]*$'

const algorithm = field.oneOf(
  ['ed25519', 'ecdsa-p256-sha256', 'ecdsa-p384-sha384', 'rsa-pss-sha512', 'rsa-v1_5-sha256', 'hmac-sha256'],
  'Algorithm of this key. A signature that names a different algorithm is refused.',
)
const encoding = field.optionalOneOf(
  ['utf8', 'hex', 'base64', 'base64url'],
  'Encoding of the secret, with `hmac-sha256`. Default: `utf8`.',
)
const id = field.string('Value of `keyid` in signatures.', {
  minLength: 1,
  maxLength: 256,
  pattern: '^[ -~]+$',
})

const verifyingKey = field.closed('A key.', {
  id,
  algorithm,
  key: field.string(
    'Public key (PEM, certificate or JWK; private keys are rejected) or shared secret, as a secret reference.',
    { secret: true, minLength: 1 },
  ),
  encoding,
  consumer: field.optionalText(256, 'Id of the consumer that owns the key.'),
  groups: field.optionalList(field.string('A group name.', { minLength: 1 }), 'Groups of the consumer.'),
})

const signingKey = field.closed('Signing key.', {
  id,
  algorithm,
  key: field.string('Private key (PEM or JWK) or shared secret, as a secret reference.', {
    secret: true,
    minLength: 1,
  }),
  encoding,
})

const component = field.string(
  'A component: `@method`, `content-type`, `@query-param;name="id"`, `x-list;sf`.',
  { minLength: 1, maxLength: 256 },
)

const replay = field.closed('Requires a `nonce`, and refuses nonces that have already been accepted.', {
  maxEntries: field.optionalInteger(
    'Maximum number of nonces that each worker remembers, about 150 bytes each. When the limit is reached, requests get 503.',
    { default: DEFAULT_REPLAY_ENTRIES, minimum: 1, maximum: 10_000_000 },
  ),
  ...sharingOptions,
})

const verification = {
  keys: field.list(verifyingKey, 'Accepted keys.', { minItems: 1, maxItems: 1000 }),
  components: field.optionalList(
    component,
    'Components that a signature must cover. Default for requests: `@method`; `@target-uri`, or `@authority` with `@path` and `@query`; and `content-digest` if there is a body. Default for responses: `@status` and `content-digest`.',
    { maxItems: 64 },
  ),
  contentDigest: field.optionalOneOf(
    ['required', 'if-covered', 'off'],
    'Check of the body digest. `required`: the signature must cover the digest of the body, which is checked. `if-covered`: the digest is checked if the signature covers it. `off`: the digest is not checked and the body is not buffered.',
    'required',
  ),
  maxAge: field.optionalDuration('Maximum age of `created`.', DEFAULT_MAX_AGE),
  clockSkew: field.optionalDuration('Maximum time that `created` may lie in the future.', DEFAULT_CLOCK_SKEW),
  label: field.optionalString('Considers only the signature with this label.', {
    pattern: LABEL,
    maxLength: 64,
  }),
  tag: field.optionalText(256, 'Considers only signatures with this `tag`.'),
  structuredFields: field.optionalRecord(
    field.oneOf(['dictionary', 'list', 'item']),
    'Structured types of custom fields that are covered with `sf`, by field name.',
  ),
}

const requestVerification = field.closed('Verifies requests of clients.', {
  ...verification,
  replay: Type.Optional(replay),
  strip: field.optionalFlag(
    false,
    'Removes `signature` and `signature-input` before the request is sent upstream.',
  ),
})

const responseVerification = field.closed(
  'Verifies responses of the upstream. Request components (`;req`) refer to the request as sent upstream.',
  verification,
)

const signing = {
  key: signingKey,
  components: field.optionalList(
    component,
    'Components to cover. Fields that the message does not have are omitted. Default for requests: `@method`, `@target-uri`, `content-digest`; for responses: `@status`, `content-digest`.',
    { maxItems: 64 },
  ),
  label: field.optionalString('Label of the signature.', {
    default: DEFAULT_LABEL,
    pattern: LABEL,
    maxLength: 64,
  }),
  tag: field.optionalString('Value of `tag`.', { minLength: 1, maxLength: 256, pattern: '^[ -~]+$' }),
  expiresIn: field.optionalDuration(
    'Time after `created` at which the signature expires, written to `expires`.',
  ),
  nonce: field.optionalFlag(false, 'Adds a random `nonce`.'),
  includeAlg: field.optionalFlag(true, 'Adds the algorithm as `alg`.'),
  digest: field.optionalOneOf(
    ['sha-256', 'sha-512'],
    'Algorithm of `content-digest`, which is added if it is covered and there is a body.',
    'sha-256',
  ),
}

const requestSigning = field.closed(
  'Signs requests to the upstream, separately for each attempt. Replaces signatures of the client.',
  signing,
)
const responseSigning = field.closed(
  'Signs responses to the client. Replaces signatures of the upstream.',
  signing,
)

/** Schema of the configuration of `http-signature`. */
export const httpSignatureSchema = field.policyOptions(
  {
    verify: Type.Optional(requestVerification),
    sign: Type.Optional(requestSigning),
    verifyResponse: Type.Optional(responseVerification),
    signResponse: Type.Optional(responseSigning),
  },
  [
    'A missing signature gets 401 `GW_SIGNATURE_MISSING`. If no signature is valid, the response is 401 `GW_SIGNATURE_INVALID`. A signature is invalid if its key is not listed or has another algorithm, or if it does not cover the required components. It is invalid if `created` is missing, too old or in the future. It is also invalid after `expires`, with a wrong body digest, or with a used nonce. One valid signature is enough. A message with more than eight signatures is refused. An invalid response is replaced with 502 `GW_RESPONSE_INVALID`.',
    'Everything except the digest is checked before the body is read, on the request as received: path and query with their percent-encoding, `@authority` in lower case without the default port, and repeated field lines joined with commas. Changes by earlier policies are visible here, so put this policy first.',
    'Supported components: `@method`, `@target-uri`, `@authority`, `@scheme`, `@request-target`, `@path`, `@query`, `@query-param`, `@status`, and fields with `sf`, `key`, `bs` and `req`. Trailer fields (`tr`) are not supported, nor is `sf` for fields of unknown type. Connection fields, and `content-length` of responses, are not forwarded and cannot be covered. Dictionaries with a repeated key are refused, although RFC 9651 lets the last one count.',
    'If `content-digest` is covered or required, the body is buffered. A body digest covers the bytes as sent, including the content coding. Only `sha-256` and `sha-512` are checked. Remembered nonces survive reloads, and restarts only with `state`. A JWK whose `use` or `key_ops` does not allow the operation is rejected when the document is loaded.',
  ],
  { minProperties: 1 },
)

/** Configuration of request verification. */
export type RequestVerificationConfig = Static<typeof requestVerification>
/** Configuration shared by request and response verification. */
export type VerificationConfig = Static<typeof responseVerification>
/** Configuration of signing. */
export type SigningConfig = Static<typeof requestSigning>
