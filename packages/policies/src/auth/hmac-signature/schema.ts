import { Type } from '@sinclair/typebox'
import type { Configured } from '@sluice/core'
import { sharingOptions } from '../../crypto/replay/sharing-options.js'
import * as field from '../../shared/options/options.js'

const timestamp = field.closed(
  'Location of the signing time, with preset `custom`. The payload must contain `{{timestamp}}`.',
  {
    header: field.string('Header with the time.', { minLength: 1, maxLength: 256 }),
    format: field.optionalOneOf(
      ['unix', 'unix-ms', 'iso'],
      'Format: seconds or milliseconds since 1970, or `2030-01-31T12:00:00Z`.',
      'unix',
    ),
  },
)

const replay = field.closed('Refuses requests that have already been accepted once.', {
  maxEntries: field.optionalInteger(
    'Maximum number of requests that each worker remembers, about 150 bytes each. When the limit is reached, requests get 503.',
    { default: 100_000, minimum: 1, maximum: 10_000_000 },
  ),
  window: field.optionalDuration(
    'Time for which a request is remembered if no time is signed. Otherwise it is the sum of `tolerance` and `clockSkew`.',
    '1h',
  ),
  ...sharingOptions,
})

/** Schema of the configuration of `hmac-signature`. */
export const hmacSignatureSchema = field.policyOptions(
  {
    preset: field.oneOf(
      ['github', 'stripe', 'slack', 'shopify', 'custom'],
      'Signature scheme. `custom` uses the options below.',
    ),
    mode: field.optionalOneOf(
      ['verify', 'sign'],
      '`verify` checks requests of clients. `sign` signs requests to the upstream, separately for each attempt.',
      'verify',
    ),
    secrets: field.list(
      field.string(
        'Shared secret of at least 16 bytes, as a secret reference, or a JWK with a secret whose `use`, `key_ops` and `alg` allow it.',
        { secret: true, minLength: 1 },
      ),
      'Shared secrets. List both during rotation: each one is tried for verification. The first one signs.',
      { minItems: 1, maxItems: 8 },
    ),
    secretEncoding: field.optionalOneOf(
      ['utf8', 'hex', 'base64', 'base64url'],
      'Encoding of the secrets.',
      'utf8',
    ),
    header: field.optionalText(256, 'Header with the signature, required with `custom`.'),
    prefix: field.optionalString('Text before the signature, such as `sha256=`, with `custom`.', {
      maxLength: 64,
    }),
    encoding: field.optionalOneOf(
      ['hex', 'base64', 'base64url'],
      'Encoding of the signature, with `custom`. Default: `hex`.',
    ),
    algorithm: field.optionalOneOf(
      ['sha256', 'sha384', 'sha512', 'sha1'],
      'Hash function of the HMAC, with `custom`. Default: `sha256`. `sha1` needs `allowWeak`.',
    ),
    payload: field.optionalText(
      4096,
      'Signed text, with `custom`. Default: `{{body}}`. Placeholders: `{{method}}`, `{{host}}`, `{{path}}`, `{{query}}`, `{{header.NAME}}`, `{{timestamp}}`, `{{body}}`, and the body digests `{{body.sha256.hex}}`, `{{body.sha256.base64}}`, `{{body.sha512.hex}}`, `{{body.sha512.base64}}`.',
    ),
    timestamp: Type.Optional(timestamp),
    tolerance: field.optionalDuration('Maximum age of a signature, if its time is signed.', '5m'),
    clockSkew: field.optionalDuration('Maximum time that a signature may lie in the future.', '1m'),
    replay: Type.Optional(replay),
    strip: field.optionalFlag(false, 'Removes the signature before the request is sent upstream.'),
    allowWeak: field.optionalFlag(false, 'Allows `algorithm: sha1`, for senders that support nothing else.'),
  },
  [
    'The signature covers the bytes as received, before decoding: percent-encoding in the path, white space in JSON and content codings matter. Put this policy first, because changes by earlier policies to the query or the body invalidate the signature. Fields, path and query are read with the request head, so later changes do not matter.',
    'A missing signature gets 401 `GW_SIGNATURE_MISSING` before the body is read. A wrong, truncated, repeated or wrongly encoded signature gets 401 `GW_SIGNATURE_INVALID`. So does a time outside `tolerance` and `clockSkew`, or a replayed signature. The response does not depend on the secret used. Comparisons take constant time.',
    '`github` reads `X-Hub-Signature-256`. `stripe` reads the time and every `v1` in `Stripe-Signature`. `slack` reads `X-Slack-Signature` and `X-Slack-Request-Timestamp`. `shopify` reads `X-Shopify-Hmac-SHA256`. GitHub and Shopify sign neither a time nor the path: a captured request stays valid, on every route with the same secret, unless `replay` detects it.',
    'Signatures remembered by `replay` survive reloads, and restarts only with `state`. A missing placeholder value is empty in the payload. If the payload does not contain the body, the body is neither signed nor buffered.',
  ],
)

/** Configuration of `hmac-signature`, derived from its schema. */
export type HmacSignatureConfig = Configured<typeof hmacSignatureSchema>
