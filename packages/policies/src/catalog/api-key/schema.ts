import type { Static } from '@sinclair/typebox'
import {
  closed,
  optionalFile,
  optionalFlag,
  optionalList,
  optionalOneOf,
  optionalString,
  optionalText,
  policyOptions,
  string,
} from '../../shared/options.js'

/** Of `consumersFile`. */
const CONSUMERS_FILE =
  'In place of `keys`: a file of consumers with their keys, see docs/guides/consumers.md. It is read again when it changes.'

/** Default of `name`. */
export const DEFAULT_NAME = 'x-api-key'

const key = closed('One key.', {
  id: string(
    'The id of the consumer. Several keys may share it, so that one can be replaced without a gap.',
    { minLength: 1, maxLength: 256 },
  ),
  name: optionalText(256, 'The name of the consumer; default: the id.'),
  sha256: string(
    'SHA-256 of the key, 64 hexadecimal digits, as `gw hash-key` prints it. The key itself is refused.',
    { secret: true, minLength: 1 },
  ),
  groups: optionalList(
    string('A group name.', { minLength: 1 }),
    'Groups of the consumer, for conditions and later policies.',
  ),
  expires: optionalString(
    'From this moment on the key is refused: `2030-01-31T12:00:00Z`, or `2030-01-31` for the beginning of that day in UTC.',
  ),
})

/** The configuration of `api-key`. */
export const apiKeySchema = policyOptions(
  {
    in: optionalOneOf(
      ['header', 'query'],
      'Where the key stands. Queries end up in logs and histories; prefer a header.',
      'header',
    ),
    name: optionalString('The header, in any case, or the query parameter, exactly.', {
      default: DEFAULT_NAME,
      minLength: 1,
      maxLength: 256,
    }),
    prefix: optionalText(
      64,
      'What stands before the key, compared without case, such as `Bearer ` with the header `authorization`.',
    ),
    keys: optionalList(key, 'The keys that are accepted.', { minItems: 1, maxItems: 100_000 }),
    consumersFile: optionalFile(CONSUMERS_FILE),
    strip: optionalFlag(true, 'Removes the key before the upstream sees the request.'),
  },
  [
    'Without a key the answer is 401 `GW_AUTH_MISSING`; with an unknown one, a repeated one or one longer than 512 characters 401 `GW_AUTH_INVALID`; with one past its time 401 `GW_AUTH_EXPIRED`.',
    'Keys are stored as SHA-256 only. That is enough for random keys of 128 bits and more, as `gw new-key` makes them, and not for words that people choose.',
  ],
)

/** The configuration of `api-key`, derived from its schema. */
export type ApiKeyConfig = Static<typeof apiKeySchema>
