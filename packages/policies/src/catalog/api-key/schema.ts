import { type Static, Type } from '@sinclair/typebox'
import { closed, optionalFlag, optionalOneOf, optionalText } from '../../shared/options.js'

/** Default of `name`. */
export const DEFAULT_NAME = 'x-api-key'

const key = closed('One key.', {
  id: Type.String({
    minLength: 1,
    maxLength: 256,
    description:
      'The id of the consumer. Several keys may share it, so that one can be replaced without a gap.',
  }),
  name: optionalText(256, 'The name of the consumer; default: the id.'),
  sha256: Type.String({
    secret: true,
    minLength: 1,
    description:
      'SHA-256 of the key, 64 hexadecimal digits, as `gw hash-key` prints it. The key itself is refused.',
  }),
  groups: Type.Optional(
    Type.Array(Type.String({ description: 'A group name.', minLength: 1 }), {
      description: 'Groups of the consumer, for conditions and later policies.',
    }),
  ),
  expires: Type.Optional(
    Type.String({
      description:
        'From this moment on the key is refused: `2030-01-31T12:00:00Z`, or `2030-01-31` for the beginning of that day in UTC.',
    }),
  ),
})

/** The configuration of `api-key`. */
export const apiKeySchema = Type.Object(
  {
    in: optionalOneOf(
      ['header', 'query'],
      'Where the key stands. Queries end up in logs and histories; prefer a header.',
      'header',
    ),
    name: Type.Optional(
      Type.String({
        default: DEFAULT_NAME,
        minLength: 1,
        maxLength: 256,
        description: 'The header, in any case, or the query parameter, exactly.',
      }),
    ),
    prefix: optionalText(
      64,
      'What stands before the key, compared without case, such as `Bearer ` with the header `authorization`.',
    ),
    keys: Type.Array(key, { description: 'The keys that are accepted.', minItems: 1, maxItems: 100_000 }),
    strip: optionalFlag(true, 'Removes the key before the upstream sees the request.'),
  },
  {
    additionalProperties: false,
    description: [
      'Without a key the answer is 401 `GW_AUTH_MISSING`; with an unknown one, a repeated one or one longer than 512 characters 401 `GW_AUTH_INVALID`; with one past its time 401 `GW_AUTH_EXPIRED`.',
      'Keys are stored as SHA-256 only. That is enough for random keys of 128 bits and more, as `gw new-key` makes them, and not for words that people choose.',
    ].join('\n\n'),
  },
)

/** The configuration of `api-key`, derived from its schema. */
export type ApiKeyConfig = Static<typeof apiKeySchema>
