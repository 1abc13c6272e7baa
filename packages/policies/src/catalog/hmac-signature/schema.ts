import { type Static, Type } from '@sinclair/typebox'
import { sharingOptions } from '../../crypto/replay/sharing-options.js'
import {
  closed,
  list,
  oneOf,
  optionalDuration,
  optionalFlag,
  optionalInteger,
  optionalOneOf,
  optionalString,
  optionalText,
  policyOptions,
  string,
} from '../../shared/options.js'

export const DEFAULT_TOLERANCE = '5m'
export const DEFAULT_CLOCK_SKEW = '1m'
export const DEFAULT_REPLAY_ENTRIES = 100_000
export const DEFAULT_REPLAY_WINDOW = '1h'

const timestamp = closed(
  'With `custom`: where the time of signing stands. The payload has to hold `{{timestamp}}`.',
  {
    header: string('The header that holds the time.', { minLength: 1, maxLength: 256 }),
    format: optionalOneOf(
      ['unix', 'unix-ms', 'iso'],
      'Seconds or milliseconds since 1970, or `2030-01-31T12:00:00Z`.',
      'unix',
    ),
  },
)

const replay = closed('Refuses what was accepted once already.', {
  maxEntries: optionalInteger(
    'Requests that each worker remembers, about 150 bytes each. When all are in use the answer is 503.',
    { default: DEFAULT_REPLAY_ENTRIES, minimum: 1, maximum: 10_000_000 },
  ),
  window: optionalDuration(
    'How long a request is remembered where no time is signed; with a time it is `tolerance` and `clockSkew` together.',
    DEFAULT_REPLAY_WINDOW,
  ),
  ...sharingOptions,
})

/** The configuration of `hmac-signature`. */
export const hmacSignatureSchema = policyOptions(
  {
    preset: oneOf(
      ['github', 'stripe', 'slack', 'shopify', 'custom'],
      'Whose way of signing; with `custom` the options below say it.',
    ),
    mode: optionalOneOf(
      ['verify', 'sign'],
      '`verify` what clients send, or `sign` what the upstream gets, again for each attempt.',
      'verify',
    ),
    secrets: list(
      string(
        'A shared secret of at least 16 bytes, by reference, or a JWK that holds one and whose `use`, `key_ops` and `alg` allow it.',
        { secret: true, minLength: 1 },
      ),
      'While a secret is replaced both stand here: each is tried. The first one signs.',
      { minItems: 1, maxItems: 8 },
    ),
    secretEncoding: optionalOneOf(
      ['utf8', 'hex', 'base64', 'base64url'],
      'How the secrets are written.',
      'utf8',
    ),
    header: optionalText(256, 'With `custom`, where it is required: the header that holds the signature.'),
    prefix: optionalString('With `custom`: what stands before the signature, such as `sha256=`.', {
      maxLength: 64,
    }),
    encoding: optionalOneOf(
      ['hex', 'base64', 'base64url'],
      'With `custom`: how the signature is written; default `hex`.',
    ),
    algorithm: optionalOneOf(
      ['sha256', 'sha384', 'sha512', 'sha1'],
      'With `custom`: the hash under the HMAC; default `sha256`. `sha1` needs `allowWeak`.',
    ),
    payload: optionalText(
      4096,
      'With `custom`: what is signed, default `{{body}}`. Placeholders: `{{method}}`, `{{host}}`, `{{path}}`, `{{query}}`, `{{header.NAME}}`, `{{timestamp}}`, `{{body}}`, and its digests `{{body.sha256.hex}}`, `{{body.sha256.base64}}`, `{{body.sha512.hex}}`, `{{body.sha512.base64}}`.',
    ),
    timestamp: Type.Optional(timestamp),
    tolerance: optionalDuration(
      'Oldest signature that is accepted, where its time is signed.',
      DEFAULT_TOLERANCE,
    ),
    clockSkew: optionalDuration('How far the time of a signature may lie ahead.', DEFAULT_CLOCK_SKEW),
    replay: Type.Optional(replay),
    strip: optionalFlag(false, 'Removes the signature before the upstream sees the request.'),
    allowWeak: optionalFlag(false, 'Allows `algorithm: sha1`, for senders that know nothing better.'),
  },
  [
    'The signature is computed over the bytes as they were received, before anything decodes them: escapes in the path, spaces in JSON and a content coding count. So this policy stands first: what policies before it change in the query or the body is changed here too. Fields, path and query are taken when the request head is read; what later policies change does not matter.',
    'Without a signature the answer is 401 `GW_SIGNATURE_MISSING`, before the body is read; with one that is wrong, shortened, repeated or in another encoding 401 `GW_SIGNATURE_INVALID`, the same whichever secret it was made with; the same code with a time outside `tolerance` and `clockSkew`, and for what was used before. Comparisons take constant time.',
    '`github` reads `X-Hub-Signature-256`, `stripe` `Stripe-Signature` with its time and every `v1` in it, `slack` `X-Slack-Signature` and `X-Slack-Request-Timestamp`, `shopify` `X-Shopify-Hmac-SHA256`. GitHub and Shopify sign no time and not the path: a captured request stays valid, at every route with the secret, unless `replay` remembers it.',
    'What `replay` remembers survives reloads, and restarts only with `state`. A placeholder that is absent from the request is empty in the payload. A payload without the body leaves the body unsigned, and then it is not collected either.',
  ],
)

/** The configuration of `hmac-signature`, derived from its schema. */
export type HmacSignatureConfig = Static<typeof hmacSignatureSchema>
