import type { Static } from '@sinclair/typebox'
import { closed, list, optionalDuration, optionalString, string } from '../options.js'

/** Default of `session.cookie`. */
export const DEFAULT_COOKIE = 'sluice-session'
/** Default of `session.lifetime`. */
export const DEFAULT_LIFETIME = '8h'
/** Default of `session.idleTimeout`. */
export const DEFAULT_IDLE = '1h'

/** The sessions of a policy that logs users in. */
export const sessionOptions = closed('The sessions.', {
  secrets: list(
    string('A secret of at least 32 characters, by reference.', {
      secret: true,
      minLength: 32,
      maxLength: 4096,
    }),
    'What the cookies are encrypted with: the first one, while cookies of the others are still taken. The same for all gateways of a site.',
    { minItems: 1, maxItems: 8 },
  ),
  cookie: optionalString('The name of the cookie, without the prefix `__Host-` that it gets with TLS.', {
    minLength: 1,
    maxLength: 64,
    pattern: '^[A-Za-z0-9_-]+$',
    default: DEFAULT_COOKIE,
  }),
  lifetime: optionalDuration('How long after the login a session ends, up to 30d.', DEFAULT_LIFETIME),
  idleTimeout: optionalDuration('How long after the last request it ends; 0s: never for that.', DEFAULT_IDLE),
})

/** What those options hold. */
export type SessionConfig = Static<typeof sessionOptions>
