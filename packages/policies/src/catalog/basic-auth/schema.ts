import type { Static } from '@sinclair/typebox'
import {
  closed,
  optionalDuration,
  optionalFile,
  optionalFlag,
  optionalInteger,
  optionalList,
  optionalString,
  policyOptions,
  string,
} from '../../shared/options.js'

/** Default of `realm`. */
export const DEFAULT_REALM = 'Restricted'
/** Default of `cacheTtl`. */
export const DEFAULT_CACHE_TTL = '60s'

const user = closed('One user.', {
  name: string('The user name; also the id of the consumer.', { minLength: 1, maxLength: 256 }),
  password: string(
    'The scrypt hash of the password, `$scrypt$ln=15,r=8,p=1$SALT$HASH`, as `gw hash-password` prints it. Plain text is refused.',
    { secret: true, minLength: 1 },
  ),
  groups: optionalList(
    string('A group name.', { minLength: 1 }),
    'Groups of the consumer, for conditions and later policies.',
  ),
})

/** The configuration of `basic-auth`. */
export const basicAuthSchema = policyOptions(
  {
    users: optionalList(user, 'Who may call.', { minItems: 1, maxItems: 10_000 }),
    consumersFile: optionalFile(
      'In place of `users`: a file of consumers with their passwords, see docs/guides/consumers.md. It is read again when it changes.',
    ),
    realm: optionalString('The protection space that the challenge names.', {
      default: DEFAULT_REALM,
      maxLength: 256,
    }),
    stripCredentials: optionalFlag(true, 'Removes `authorization` before the upstream sees the request.'),
    cacheTtl: optionalDuration('How long a verified password needs no second hash.', DEFAULT_CACHE_TTL),
    maxFailuresPerMinute: optionalInteger(
      'Failed attempts of one client address on these users, per worker and for all uses with the same users, after which further attempts are answered 429 `GW_RATE_LIMITED` for the rest of the minute; verified callers at the same address are not affected. If the attempts in progress could use up the rest, further ones are answered 503 `GW_AUTH_OVERLOADED`.',
      { minimum: 1, maximum: 1_000_000 },
    ),
  },
  [
    'Without credentials the answer is 401 `GW_AUTH_MISSING`, with wrong ones 401 `GW_AUTH_INVALID`; an unknown user and a wrong password cannot be distinguished, also not by time. Credentials are UTF-8 (RFC 7617), at most 8 KB; a password may hold colons.',
    'A password is hashed once, off the event loop, and then remembered for `cacheTtl` as an HMAC under a key that lives in the process only. Two are hashed at a time, and client addresses (of IPv6 their /64) take turns. A password that was right before goes first; the attempts of one address on users who do not exist share a hash. Up to 512 requests wait, of one address half of the slots that are free; one more is answered 503 `GW_AUTH_OVERLOADED` with `retry-after`, and so is one that has waited for 20 s. A changed password counts from the reload on.',
  ],
)

/** The configuration of `basic-auth`, derived from its schema. */
export type BasicAuthConfig = Static<typeof basicAuthSchema>
