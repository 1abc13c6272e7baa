import { Type } from '@sinclair/typebox'
import type { Configured } from '@sluice/core'
import * as field from '../../shared/options/options.js'
import { fileSource } from '../../shared/options/text-source.js'

const user = field.closed('One user.', {
  name: field.text(256, 'User name. It is also the consumer id.'),
  password: field.string(
    'scrypt hash of the password, `$scrypt$ln=15,r=8,p=1$SALT$HASH`, as `gw hash-password` prints it. Plain text is rejected.',
    { secret: true, minLength: 1 },
  ),
  groups: field.optionalList(
    field.string('A group name.', { minLength: 1 }),
    'Groups of the consumer, for conditions and later policies.',
  ),
})

/** Schema of the configuration of `basic-auth`. */
export const basicAuthSchema = field.policyOptions(
  {
    users: field.optionalList(user, 'Users that may call.', { minItems: 1, maxItems: 10_000 }),
    consumers: Type.Optional(
      fileSource(
        'the consumers with their passwords, see docs/guides/consumers.md, as an alternative to `users`',
      ),
    ),
    realm: field.optionalString('Protection space named in the challenge.', {
      default: 'Restricted',
      maxLength: 256,
    }),
    stripCredentials: field.optionalFlag(
      true,
      'Removes `authorization` before the request is sent upstream.',
    ),
    cacheTtl: field.optionalDuration('Time for which a verified password is not hashed again.', '60s'),
    maxFailuresPerMinute: field.optionalInteger(
      'Maximum number of failed attempts per client address and minute, counted per worker for all uses with the same users. After that, attempts get 429 `GW_RATE_LIMITED` for the rest of the minute. Verified callers at the same address are not affected. If attempts in progress could exceed the limit, further ones get 503 `GW_AUTH_OVERLOADED`.',
      { minimum: 1, maximum: 1_000_000 },
    ),
  },
  [
    'Missing credentials get 401 `GW_AUTH_MISSING`, wrong ones 401 `GW_AUTH_INVALID`. An unknown user and a wrong password cannot be told apart, not even by timing. Credentials are UTF-8 (RFC 7617) and at most 8 KB. A password may contain colons.',
    'A password is hashed once, off the event loop, and then remembered for `cacheTtl` as an HMAC with a key that exists only in the process. At most two hashes run concurrently, and client addresses (IPv6: /64 networks) take turns. A password that was correct before goes first. Attempts from one address on unknown users share a hash. Up to 512 requests may wait, and one address may use half of the free slots. Further requests get 503 `GW_AUTH_OVERLOADED` with `retry-after`, as do requests that have waited for 20 s. A changed password takes effect on reload.',
  ],
  { deprecatedKeys: { consumersFile: 'consumers' } },
)

/** Configuration of `basic-auth`, derived from its schema. */
export type BasicAuthConfig = Configured<typeof basicAuthSchema>
