import { type Static, Type } from '@sinclair/typebox'
import { sharingOptions } from '../../crypto/replay/sharing-options.js'
import {
  closed,
  list,
  oneOf,
  optionalDuration,
  optionalFlag,
  optionalInteger,
  optionalList,
  optionalOneOf,
  optionalRecord,
  optionalString,
  optionalText,
  policyOptions,
  string,
} from '../../shared/options.js'

export const DEFAULT_MAX_AGE = '5m'
export const DEFAULT_CLOCK_SKEW = '1m'
export const DEFAULT_LABEL = 'sluice'
export const DEFAULT_REPLAY_ENTRIES = 100_000
const LABEL = '^[a-z*][a-z0-9_.*-]*$'

const algorithm = oneOf(
  ['ed25519', 'ecdsa-p256-sha256', 'ecdsa-p384-sha384', 'rsa-pss-sha512', 'rsa-v1_5-sha256', 'hmac-sha256'],
  'The one algorithm of this key; what a message says about it can only be refused.',
)
const encoding = optionalOneOf(
  ['utf8', 'hex', 'base64', 'base64url'],
  'With `hmac-sha256`: how the secret is written; default `utf8`.',
)
const id = string('The `keyid` of signatures.', { minLength: 1, maxLength: 256, pattern: '^[ -~]+$' })

const verifyingKey = closed('One key.', {
  id,
  algorithm,
  key: string(
    'The public key (PEM, certificate or JWK; a private one is refused) or the shared secret, by reference.',
    { secret: true, minLength: 1 },
  ),
  encoding,
  consumer: optionalText(256, 'The id of the consumer who has this key.'),
  groups: optionalList(string('A group name.', { minLength: 1 }), 'Groups of the consumer.'),
})

const signingKey = closed('The key that signs.', {
  id,
  algorithm,
  key: string('The private key (PEM or JWK) or the shared secret, by reference.', {
    secret: true,
    minLength: 1,
  }),
  encoding,
})

const component = string('A component: `@method`, `content-type`, `@query-param;name="id"`, `x-list;sf`.', {
  minLength: 1,
  maxLength: 256,
})

const replay = closed('Asks for a `nonce`, and refuses one that was accepted before.', {
  maxEntries: optionalInteger(
    'Nonces that each worker remembers, about 150 bytes each. When all are in use the answer is 503.',
    { default: DEFAULT_REPLAY_ENTRIES, minimum: 1, maximum: 10_000_000 },
  ),
  ...sharingOptions,
})

const verification = {
  keys: list(verifyingKey, 'The keys that are accepted.', { minItems: 1, maxItems: 1000 }),
  components: optionalList(
    component,
    'What a signature has to cover. Default for requests: `@method`; `@target-uri`, or `@authority` with `@path` and `@query`; and `content-digest` when there is a body. Default for responses: `@status`, and `content-digest`.',
    { maxItems: 64 },
  ),
  contentDigest: optionalOneOf(
    ['required', 'if-covered', 'off'],
    '`required`: a body has to be covered by its digest, which is checked. `if-covered`: checked where a signature covers it. `off`: never checked, and the body not collected.',
    'required',
  ),
  maxAge: optionalDuration('Oldest `created` that is accepted.', DEFAULT_MAX_AGE),
  clockSkew: optionalDuration('How far `created` may lie ahead.', DEFAULT_CLOCK_SKEW),
  label: optionalString('Looks at the signature with this label only.', { pattern: LABEL, maxLength: 64 }),
  tag: optionalText(256, 'Looks at signatures with this `tag` only.'),
  structuredFields: optionalRecord(
    oneOf(['dictionary', 'list', 'item']),
    'Field name to shape, for fields of your own that are covered with `sf`.',
  ),
}

const requestVerification = closed('Verifies requests of clients.', {
  ...verification,
  replay: Type.Optional(replay),
  strip: optionalFlag(
    false,
    'Removes `signature` and `signature-input` before the upstream sees the request.',
  ),
})

const responseVerification = closed(
  'Verifies responses of the upstream. Components of the request (`;req`) are those that it was sent.',
  verification,
)

const signing = {
  key: signingKey,
  components: optionalList(
    component,
    'What to cover; a field that the message does not have is left out. Default for requests: `@method`, `@target-uri`, `content-digest`; for responses: `@status`, `content-digest`.',
    { maxItems: 64 },
  ),
  label: optionalString('The label of the signature.', {
    default: DEFAULT_LABEL,
    pattern: LABEL,
    maxLength: 64,
  }),
  tag: optionalString('Its `tag`.', { minLength: 1, maxLength: 256, pattern: '^[ -~]+$' }),
  expiresIn: optionalDuration('Adds `expires` so long after `created`.'),
  nonce: optionalFlag(false, 'Adds a random `nonce`.'),
  includeAlg: optionalFlag(true, 'Names the algorithm in `alg`.'),
  digest: optionalOneOf(
    ['sha-256', 'sha-512'],
    'The algorithm of the `content-digest` that is made where it is covered and there is a body.',
    'sha-256',
  ),
}

const requestSigning = closed(
  'Signs requests to the upstream, again for each attempt. Takes the place of signatures of the client.',
  signing,
)
const responseSigning = closed(
  'Signs responses to the client. Takes the place of signatures of the upstream.',
  signing,
)

/** The configuration of `http-signature`. */
export const httpSignatureSchema = policyOptions(
  {
    verify: Type.Optional(requestVerification),
    sign: Type.Optional(requestSigning),
    verifyResponse: Type.Optional(responseVerification),
    signResponse: Type.Optional(responseSigning),
  },
  [
    'Without a signature the answer is 401 `GW_SIGNATURE_MISSING`. It is 401 `GW_SIGNATURE_INVALID` when no signature is valid: made by a key that is not listed or with another algorithm than that key has, not covering what it has to, without `created`, too old, ahead of time or past its `expires`, with a digest that is not that of the body, or with a nonce that was used. One valid signature is enough; of more than eight none is looked at. A response that fails is answered with 502 `GW_RESPONSE_INVALID`.',
    'Everything but the digest is checked before the body is read, on the request as it was received: path and query with their escapes, `@authority` in lower case without the default port of the scheme, several lines of a field joined by a comma. What policies before this one change is changed here too, so it stands first.',
    'Supported components: `@method`, `@target-uri`, `@authority`, `@scheme`, `@request-target`, `@path`, `@query`, `@query-param`, `@status`, and fields with `sf`, `key`, `bs` and `req`. Fields of trailers (`tr`) are refused by name, and so is `sf` for a field whose shape is not known. Fields of the connection, and `content-length` of responses, end at the gateway and cannot be covered. Dictionaries with a key twice are refused, where RFC 9651 would let the last one count.',
    'With `content-digest` covered or required the body is collected. A digest of a body is one of the bytes as sent, content coding included; `sha-256` and `sha-512` count. Nonces are remembered by each worker for itself, across reloads, not restarts. A JWK is refused at load when its `use` or `key_ops` is for something else.',
  ],
  { minProperties: 1 },
)

/** How requests are verified. */
export type RequestVerificationConfig = Static<typeof requestVerification>
/** What verification of both sides has in common. */
export type VerificationConfig = Static<typeof responseVerification>
/** How messages are signed. */
export type SigningConfig = Static<typeof requestSigning>
