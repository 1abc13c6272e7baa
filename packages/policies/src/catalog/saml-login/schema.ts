import { type Static, Type } from '@sinclair/typebox'
import { sharingOptions } from '../../crypto/replay/sharing-options.js'
import {
  closed,
  optionalClosed,
  optionalDuration,
  optionalFlag,
  optionalOneOf,
  optionalString,
  policyOptions,
  string,
} from '../../shared/options.js'
import { sessionOptions } from '../../shared/session/session-options.js'
import { attributeKeys, DEFAULT_SKEW, idpSchema } from '../saml/schema.js'

/** Default of `logout.returnTo`. */
export const DEFAULT_RETURN = '/'

const place = '^/[!-~]*$'

/** The configuration of `saml-login`. */
export const samlLoginSchema = policyOptions(
  {
    idp: idpSchema,
    audience: string('The name of this service at the provider, its entity ID.', {
      minLength: 1,
      maxLength: 1024,
    }),
    acsUrl: string(
      'Where the provider has browsers post its responses to (assertion consumer service): `https://app.example.com/saml/acs`. Its origin is that of the site. Without TLS only on this machine.',
      { minLength: 1, maxLength: 2048 },
    ),
    acs: optionalFlag(
      false,
      'This use answers those posts, on a route for the path of `acsUrl` alone; the other one, on the routes of the site, looks at sessions. Both have the same options beside.',
    ),
    signingKey: Type.Optional(
      closed('Signs requests for a login, with RSA and SHA-256.', {
        key: string('The private key (PEM), by reference.', {
          secret: true,
          minLength: 1,
          maxLength: 16_384,
        }),
      }),
    ),
    unauthenticated: optionalOneOf(
      ['auto', 'redirect', '401', 'pass'],
      'What becomes of requests without a session, as with `oidc`.',
      'auto',
    ),
    session: sessionOptions,
    logout: optionalClosed('Lets users log out here.', {
      path: string('The path that logs out, by POST or GET, taken only from pages of the same site.', {
        maxLength: 1024,
        pattern: place,
      }),
      returnTo: optionalString('Where the browser goes then.', {
        maxLength: 1024,
        pattern: place,
        default: DEFAULT_RETURN,
      }),
    }),
    onStoreDown: optionalOneOf(
      ['open', 'closed'],
      'While nobody can say whether a session was ended before its time: it goes on (`open`), or requests get 503 `GW_AUTH_UNAVAILABLE` (`closed`).',
      'open',
    ),
    replay: optionalClosed('How it is remembered which assertions were used.', sharingOptions),
    clockSkew: optionalDuration('How far clocks may differ.', DEFAULT_SKEW),
    ...attributeKeys,
  },
  [
    'Logs users in at a provider of SAML 2.0 (Web Browser SSO Profile): a request by redirect, which is signed with `signingKey`, and a response by a form that the browser posts. What belongs to a login stands in an encrypted cookie of the browser that began it, for ten minutes; with TLS it is `SameSite=None`, because another site makes the browser post. The response has to answer that request, once, for this `acsUrl`; one that nobody has asked for is refused. Assertions and responses are checked as by `saml`.',
    'Sessions are those of `oidc`: encrypted cookies with the attributes as they were at the login. One ends after `session.lifetime`, `session.idleTimeout`, at `SessionNotOnOrAfter`, and by `logout`, which ends nothing at the provider.',
    'A response that is repeated, late or without the cookie of its login restarts the login, once. Any other login that cannot be finished is 400 `GW_LOGIN_FAILED`; `error.reason` in the traffic log says why.',
  ],
)

/** The configuration of `saml-login`, derived from its schema. */
export type SamlLoginConfig = Static<typeof samlLoginSchema>
