import type { Configured } from '@sluice/core'
import { closed, list, optionalDuration, optionalText, string } from '../../shared/options/options.js'

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
  cookie: optionalText(64, 'Cookie name, without the prefix `__Host-` that is added with TLS.', {
    pattern: '^[A-Za-z0-9_-]+$',
    default: 'sluice-session',
  }),
  lifetime: optionalDuration('Maximum duration of a session after the login, up to 30d.', '8h'),
  idleTimeout: optionalDuration('Time without requests after which a session ends. `0s` disables it.', '1h'),
})

/** Configured session options. */
export type SessionConfig = Configured<typeof sessionOptions>
