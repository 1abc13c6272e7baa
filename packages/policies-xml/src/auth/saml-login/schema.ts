import { Type } from '@sinclair/typebox'
import type { Configured } from '@sluice/core'
import { sharingOptions } from '@sluice/policies/crypto/replay/sharing-options'
import { sessionOptions } from '@sluice/policies/identity/session/session-options'
import * as field from '@sluice/policies/shared/options/options'
import { attributeKeys, DEFAULT_SKEW, idpSchema } from '../saml/schema.js'

/** Default of `logout.returnTo`. */
export const DEFAULT_RETURN = '/'

const place = '^/[!-~]*$'

/** Schema of the `saml-login` configuration. */
export const samlLoginSchema = field.policyOptions(
  {
    idp: idpSchema,
    audience: field.string('Entity ID of this service at the provider.', { minLength: 1, maxLength: 1024 }),
    acsUrl: field.string(
      'URL that browsers post responses to (assertion consumer service), such as `https://app.example.com/saml/acs`. Its origin is the origin of the site. HTTP is allowed only for loopback.',
      { minLength: 1, maxLength: 2048 },
    ),
    acs: field.optionalFlag(
      false,
      'Set true on the route for the path of `acsUrl`, where this use receives the responses. Uses on other routes check sessions. All other options must be the same.',
    ),
    signingKey: Type.Optional(
      field.closed('Signs login requests with RSA and SHA-256.', {
        key: field.string('Private key in PEM, by reference.', {
          secret: true,
          minLength: 1,
          maxLength: 16_384,
        }),
      }),
    ),
    unauthenticated: field.optionalOneOf(
      ['auto', 'redirect', '401', 'pass'],
      'Handling of requests without a session, as in `oidc`.',
      'auto',
    ),
    session: sessionOptions,
    logout: field.optionalClosed('Logout at the gateway.', {
      path: field.string('Logout path, for POST and GET. Accepted only from pages of the same site.', {
        maxLength: 1024,
        pattern: place,
      }),
      returnTo: field.optionalString('Path the browser is redirected to after the logout.', {
        maxLength: 1024,
        pattern: place,
        default: DEFAULT_RETURN,
      }),
    }),
    onStoreDown: field.optionalOneOf(
      ['open', 'closed'],
      'Handling of sessions while the store of ended sessions is unavailable. `open` accepts them, `closed` answers 503 `GW_AUTH_UNAVAILABLE`.',
      'open',
    ),
    replay: field.optionalClosed('Store of used assertions.', sharingOptions),
    clockSkew: field.optionalDuration('Allowed clock difference.', DEFAULT_SKEW),
    ...attributeKeys,
  },
  [
    'Logs users in at a SAML 2.0 identity provider (Web Browser SSO Profile). The request is a redirect, signed with `signingKey`. The response is a form that the browser posts. The state of a login is in an encrypted cookie of the browser for ten minutes. With TLS the cookie is `SameSite=None`, because the post comes from another site. The response must answer that request, once, for this `acsUrl`. Unsolicited responses are refused. Assertions and responses are checked as in `saml`.',
    'Sessions work as in `oidc`: encrypted cookies with the attributes of the login. A session ends after `session.lifetime` or `session.idleTimeout`, at `SessionNotOnOrAfter`, or by `logout`. Logging out does not end the session at the provider.',
    'A response that is repeated, late or without the cookie of its login restarts the login, once. Any other login that cannot be completed gets 400 `GW_LOGIN_FAILED`. `error.reason` in the traffic log gives the reason.',
  ],
)

/** Configuration of `saml-login`, derived from its schema. */
export type SamlLoginConfig = Configured<typeof samlLoginSchema>
