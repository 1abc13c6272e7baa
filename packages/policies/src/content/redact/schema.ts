import type { Static } from '@sinclair/typebox'
import * as field from '../../shared/options/options.js'

function names(description: string) {
  return field.optionalList(
    field.string('Name, case-insensitive.', { minLength: 1, maxLength: 256 }),
    description,
    { minItems: 1, maxItems: 200 },
  )
}

function keep(end: string) {
  return field.optionalInteger(
    `Characters at the ${end} that \`mask\` keeps, if at least as many are hidden as shown.`,
    { default: 0, minimum: 0, maximum: 64 },
  )
}

const rule = field.closed('Values to redact, and the action.', {
  phase: field.optionalOneOf(
    ['request', 'response', 'both'],
    'Messages that the rule applies to.',
    'response',
  ),
  keys: names('Names of JSON members, at any depth, and of form fields.'),
  paths: field.optionalList(
    field.string('JSON path, such as `$.user.iban`.', { pattern: '^\\$.+', maxLength: 1024 }),
    'JSON paths with names, positions, `*` and `..`.',
    { minItems: 1, maxItems: 200 },
  ),
  headers: names('Names of header fields. Applies to all their lines.'),
  query: names('Names of query parameters, for requests only.'),
  types: field.optionalList(
    field.oneOf(
      ['card', 'iban', 'tckn', 'email', 'phone', 'jwt', 'private-key', 'aws-key'],
      'Type of value.',
    ),
    'Types of values to find anywhere in the body: payment cards and IBANs with a valid checksum, Turkish identity numbers (`tckn`), e-mail addresses, telephone numbers, JSON web tokens, private keys, AWS key ids.',
    { minItems: 1, uniqueItems: true },
  ),
  patterns: field.optionalList(
    field.string('Regular expression in RE2 syntax.', { minLength: 1, maxLength: 4096 }),
    'Patterns to find anywhere in the body.',
    { minItems: 1, maxItems: 100 },
  ),
  action: field.optionalOneOf(
    ['mask', 'delete', 'hash'],
    '`mask` replaces the value with `***`, `delete` removes it, `hash` replaces it with a keyed digest that is equal for equal values.',
    'mask',
  ),
  keepFirst: keep('beginning'),
  keepLast: keep('end'),
})

/** Schema of the `redact` configuration. */
export const redactSchema = field.policyOptions(
  {
    rules: field.list(rule, 'Redaction rules.', { minItems: 1, maxItems: 100 }),
    secret: field.optionalString('Key of `hash`, at least 16 characters.', {
      secret: true,
      minLength: 16,
      maxLength: 1024,
    }),
    maxBodyBytes: field.optionalSize('Maximum body size. Larger bodies are refused.', '1mb'),
    unreadable: field.optionalOneOf(
      ['refuse', 'pass'],
      'Handling of bodies that the rules cannot read: binary data, or text that is neither JSON nor a form if a rule has `keys` or `paths`.',
      'refuse',
    ),
  },
  [
    'Changes the message itself, for the upstream or the client. Use `log.privacy` to redact the traffic log. Rules apply in order, each to the result of the previous one. Use `when` to redact only for some callers.',
    'In JSON, `types` and `patterns` search each string and number, never names. A number that matches becomes a string. A value under one of the `keys` or `paths` is redacted as a whole, including objects and arrays. `null` stays `null`. In forms, `keys` and values are decoded first. Other text is searched as it is. `types` also finds values with URL, JSON and XML escapes.',
    '`hash` writes `hmac-sha256:` and the HMAC-SHA-256 of the value under `secret`, in base64url. For an object, the digest is that of its JSON text.',
    'Bodies are buffered, so responses no longer stream. Bodies of 32 KB or more are redacted on a separate thread. A request gets 415 `GW_MEDIA_TYPE` if its body has a content coding, 400 if it claims to be JSON and is not, and 413 if it exceeds `maxBodyBytes`. In these cases a response is replaced with 502 `GW_RESPONSE_INVALID`. Redacted JSON is serialized again: numbers keep the precision of a double, and only the last value of a duplicate name remains.',
  ],
)

/** Configuration of `redact`, derived from its schema. */
export type RedactConfig = Static<typeof redactSchema>
/** A rule in `rules`. */
export type RedactRule = RedactConfig['rules'][number]
