import type { Static } from '@sinclair/typebox'
import { closed, list, optionalDuration, optionalString, string } from '../../shared/options/options.js'

/** Default of `session.cookie`. */
export const DEFAULT_COOKIE = 'sluice-session'
/** Default of `session.lifetime`. */
export const DEFAULT_LIFETIME = '8h'
/** Default of `session.idleTimeout`. */
export const DEFAULT_IDLE = '1h'

/** Session options of a policy that logs users in. */
export const sessionOptions = closed('Session options.', {
  secrets: list(
    string('Secret of at least 32 characters, by reference.', {
      secret: true,
      minLength: 32,
      maxLength: 4096,
    }),
    'Secrets for the cookie encryption. The first one encrypts, all of them decrypt. All gateways of a site need the same secrets.',
    { minItems: 1, maxItems: 8 },
  ),
  cookie: optionalString('Cookie name, without the prefix `__Host-` that is added with TLS.', {
    minLength: 1,
    maxLength: 64,
    pattern: '^[A-Za-z0-9_-]+$',
    default: DEFAULT_COOKIE,
  }),
  lifetime: optionalDuration('Maximum duration of a session after the login, up to 30d.', DEFAULT_LIFETIME),
  idleTimeout: optionalDuration(
    'Time without requests after which a session ends. `0s` disables it.',
    DEFAULT_IDLE,
  ),
})

/** Configured session options. */
export type SessionConfig = Static<typeof sessionOptions>
