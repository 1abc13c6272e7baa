import type { Static } from '@sinclair/typebox'
import {
  closed,
  list,
  oneOf,
  optionalInteger,
  optionalList,
  optionalOneOf,
  optionalSize,
  optionalString,
  policyOptions,
  string,
} from '../../shared/options.js'

function names(description: string) {
  return optionalList(string('A name, in any case.', { minLength: 1, maxLength: 256 }), description, {
    minItems: 1,
    maxItems: 200,
  })
}

function keep(end: string) {
  return optionalInteger(
    `Characters at the ${end} that \`mask\` leaves, when at least as many are hidden as shown.`,
    { default: 0, minimum: 0, maximum: 64 },
  )
}

const rule = closed('What to redact, and how.', {
  phase: optionalOneOf(['request', 'response', 'both'], 'Which message it is about.', 'response'),
  keys: names('Names of members in JSON, at any depth, and of fields in forms.'),
  paths: optionalList(
    string('A JSON path, such as `$.user.iban`.', { pattern: '^\\$.+', maxLength: 1024 }),
    'JSON paths of names, positions, `*` and `..`.',
    { minItems: 1, maxItems: 200 },
  ),
  headers: names('Names of header fields; of all their lines.'),
  query: names('Names of query parameters; of requests only.'),
  types: optionalList(
    oneOf(['card', 'iban', 'tckn', 'email', 'phone', 'jwt', 'private-key', 'aws-key'], 'A kind of value.'),
    'Values of these kinds, wherever they stand in the body: payment cards and IBANs with a sound checksum, Turkish identity numbers (`tckn`), e-mail addresses, telephone numbers, JSON web tokens, private keys, key ids of AWS.',
    { minItems: 1, uniqueItems: true },
  ),
  patterns: optionalList(
    string('A regular expression in the syntax of RE2.', { minLength: 1, maxLength: 4096 }),
    'What these match, wherever it stands in the body.',
    { minItems: 1, maxItems: 100 },
  ),
  action: optionalOneOf(
    ['mask', 'delete', 'hash'],
    '`mask` puts `***` in its place, `delete` takes it out, `hash` puts a keyed digest in its place, equal for equal values.',
    'mask',
  ),
  keepFirst: keep('beginning'),
  keepLast: keep('end'),
})

/** The configuration of `redact`. */
export const redactSchema = policyOptions(
  {
    rules: list(rule, 'What to redact.', { minItems: 1, maxItems: 100 }),
    secret: optionalString('The key of `hash`, at least 16 characters.', {
      secret: true,
      minLength: 16,
      maxLength: 1024,
    }),
    maxBodyBytes: optionalSize('Largest body that is redacted; a larger one is refused.', '1mb'),
    unreadable: optionalOneOf(
      ['refuse', 'pass'],
      'What becomes of a body that the rules cannot look into: binary data, or text that is neither JSON nor a form when a rule has `keys` or `paths`.',
      'refuse',
    ),
  },
  [
    'Changes the message itself, for the upstream or for the client; what the traffic log shows is the matter of `log.privacy`. Rules are applied in their order, each to what those before have left. Use `when` to redact for some callers only.',
    'In JSON, `types` and `patterns` are looked for in each string and number, never in names; a number that is one becomes a string. A value under one of the `keys` or `paths` is redacted whole: of an object or an array nothing stays, and `null` stays `null`. In forms, `keys` and values are decoded first. Other text is looked through as it is, with the escapes of URLs, JSON and XML in mind for `types`.',
    '`hash` writes `hmac-sha256:` and the HMAC-SHA-256 of the value under `secret`, in base64url; of an object the one of its JSON.',
    'Bodies are collected, so that responses no longer stream; those from 32 KB on are redacted on a thread of their own. A request body in a content coding is refused with 415 `GW_MEDIA_TYPE`, whatever its size, one that says it is JSON and is not with 400, a larger one than `maxBodyBytes` with 413; a response is replaced by 502 `GW_RESPONSE_INVALID` instead. JSON in which something was redacted is written again, in which numbers keep the digits of a double, and of a name that stands twice only the last value stays.',
  ],
)

/** The configuration of `redact`, derived from its schema. */
export type RedactConfig = Static<typeof redactSchema>
export type RedactRule = RedactConfig['rules'][number]
