import { Type } from '@sinclair/typebox'
import type { Configured } from '@sluice/core'
import * as field from '../../shared/options/options.js'
import { fileSource } from '../../shared/options/text-source.js'

const key = field.closed('One key.', {
  id: field.text(
    256,
    'Consumer id. Several keys may have the same id, so that a key can be replaced without downtime.',
  ),
  name: field.optionalText(256, 'Consumer name. Default: the id.'),
  sha256: field.string(
    'SHA-256 of the key as 64 hexadecimal digits, as `gw hash-key` prints it. A plain-text key is rejected.',
    { secret: true, minLength: 1 },
  ),
  groups: field.optionalList(
    field.string('A group name.', { minLength: 1 }),
    'Groups of the consumer, for conditions and later policies.',
  ),
  expires: field.optionalString(
    'Time at which the key expires: `2030-01-31T12:00:00Z`, or `2030-01-31` for the start of that day in UTC.',
  ),
})

/** Schema of the configuration of `api-key`. */
export const apiKeySchema = field.policyOptions(
  {
    in: field.optionalOneOf(
      ['header', 'query'],
      'Location of the key. Prefer a header: query parameters end up in logs and browser histories.',
      'header',
    ),
    name: field.optionalText(
      256,
      'Header name (case-insensitive) or query parameter name (case-sensitive).',
      { default: 'x-api-key' },
    ),
    prefix: field.optionalText(
      64,
      'Text before the key, compared case-insensitively, such as `Bearer ` with the header `authorization`.',
    ),
    keys: field.optionalList(key, 'Accepted keys.', { minItems: 1, maxItems: 100_000 }),
    consumers: Type.Optional(
      fileSource('the consumers with their keys, see docs/guides/consumers.md, as an alternative to `keys`'),
    ),
    strip: field.optionalFlag(true, 'Removes the key before the request is sent upstream.'),
  },
  [
    'Responds with 401 `GW_AUTH_MISSING` if there is no key, and with 401 `GW_AUTH_INVALID` if the key is unknown, repeated or longer than 512 characters. An expired key gets 401 `GW_AUTH_EXPIRED`.',
    'Only SHA-256 digests of keys are stored. This is safe for random keys of 128 bits or more, such as those from `gw new-key`, but not for passwords chosen by people.',
  ],
  { deprecatedKeys: { consumersFile: 'consumers' } },
)

/** Configuration of `api-key`, derived from its schema. */
export type ApiKeyConfig = Configured<typeof apiKeySchema>
