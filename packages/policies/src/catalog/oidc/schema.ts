import { type Static, Type } from '@sinclair/typebox'
import { tenantsSchema } from '../../crypto/jose/tenants.js'
import { callTls } from '../../shared/call-tls.js'
import { clientAuthKeys } from '../../shared/client-auth.js'
import {
  oneOf,
  optionalClosed,
  optionalDuration,
  optionalFlag,
  optionalList,
  optionalOneOf,
  optionalString,
  policyOptions,
  string,
} from '../../shared/options.js'
import { sessionOptions } from '../../shared/session/session-options.js'
import { DEFAULT_ALGORITHMS, DEFAULT_SKEW } from '../jwt/schema.js'

/** Default of `scopes`. */
export const DEFAULT_SCOPES: readonly string[] = ['openid', 'profile', 'email']
/** Default of `timeout`. */
export const DEFAULT_TIMEOUT = '5s'
/** Default of `refreshBefore`. */
export const DEFAULT_REFRESH_BEFORE = '60s'
/** Default of `staleIfError`. */
export const DEFAULT_STALE = '10m'
/** Default of `logout.returnTo`. */
export const DEFAULT_RETURN = '/'
/** Default of `clockSkew`. */
export { DEFAULT_SKEW }
/** The algorithms of signatures that anybody can check. */
export const ID_TOKEN_ALGORITHMS = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
] as const

const claim = { minLength: 1, maxLength: 256 }
const place = '^/[!-~]*$'

/** Where a provider is, and as whom the gateway is known there. */
export const providerKeys = {
  issuer: string(
    'The provider. Its metadata are under `/.well-known/openid-configuration` (OpenID Connect Discovery).',
    { minLength: 1, maxLength: 2048, destination: true },
  ),
  tenants: tenantsSchema,
  algorithms: optionalList(
    oneOf(ID_TOKEN_ALGORITHMS, 'An algorithm.'),
    'The algorithms that its tokens may be signed with.',
    { default: [...DEFAULT_ALGORITHMS], minItems: 1, uniqueItems: true },
  ),
  clockSkew: optionalDuration('How far clocks may differ.', DEFAULT_SKEW),
  timeout: optionalDuration('Longest wait for each call of the provider, 1ms to 20s.', DEFAULT_TIMEOUT),
  tls: callTls,
}

/** The configuration of `oidc`. */
export const oidcSchema = policyOptions(
  {
    ...providerKeys,
    ...clientAuthKeys,
    redirectUri: string(
      'Where the provider sends browsers back to, as it knows it: `https://app.example.com/oauth2/callback`. The route has to match this path; its origin is that of the site. Without TLS only on this machine.',
      { minLength: 1, maxLength: 2048 },
    ),
    scopes: optionalList(
      string('A scope.', { minLength: 1, maxLength: 256, pattern: '^[!#-\\[\\]-~]+$' }),
      'What is asked for; `openid` always is. `offline_access` brings refresh tokens from many providers.',
      { default: [...DEFAULT_SCOPES], maxItems: 64 },
    ),
    parameters: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^[a-z_]{1,64}$' }),
        string('Its value.', { minLength: 1, maxLength: 1024 }),
        { description: 'More parameters of the login, such as `prompt`, `acr_values` or `ui_locales`.' },
      ),
    ),
    userInfo: optionalFlag(
      false,
      'Asks the userinfo endpoint at each login, and adds what it says to the claims of the ID token.',
    ),
    unauthenticated: optionalOneOf(
      ['auto', 'redirect', '401', 'pass'],
      'What becomes of requests without a session: browsers that open a page are sent to log in and all others get 401 (`auto`); all GET and HEAD requests are sent to log in (`redirect`); all get 401; or they go on without a consumer (`pass`).',
      'auto',
    ),
    session: sessionOptions,
    refreshBefore: optionalDuration(
      'With a refresh token: how long before the access token ends new ones are asked for.',
      DEFAULT_REFRESH_BEFORE,
    ),
    staleIfError: optionalDuration(
      'How long after its access token has ended a session goes on while the provider does not answer; 503 `GW_AUTH_UNAVAILABLE` from then on.',
      DEFAULT_STALE,
    ),
    logout: optionalClosed('Lets users log out, here and at the provider.', {
      path: string(
        'The path that logs out, by POST or GET. Taken only from pages of the same site, so that no other site can log users out; by GET only when a page is opened.',
        { maxLength: 1024, pattern: place },
      ),
      returnTo: optionalString(
        'The path where the browser goes then. The provider has to know this address.',
        {
          maxLength: 1024,
          pattern: place,
          default: DEFAULT_RETURN,
        },
      ),
      provider: optionalFlag(
        true,
        'Ends the session at the provider, too, where it has an endpoint for that.',
      ),
    }),
    onStoreDown: optionalOneOf(
      ['open', 'closed'],
      'While nobody can say whether a session was ended before its time: it goes on (`open`), or requests get 503 `GW_AUTH_UNAVAILABLE` (`closed`).',
      'open',
    ),
    consumerClaim: optionalString('The claim that is the id of the consumer.', { ...claim, default: 'sub' }),
    nameClaim: optionalString('The claim that is its name; default: the id.', claim),
    groupsClaim: optionalString('The claim with its groups: a list, or a text with spaces.', claim),
    rolesClaim: optionalString('The claim with its roles, written like its groups.', claim),
    forwardClaims: Type.Optional(
      Type.Record(Type.String({ pattern: '^.{1,256}$' }), string('The header for the claim.', claim), {
        description: 'Headers for the upstream, by claim. What the client sent under those names is removed.',
      }),
    ),
    accessTokenHeader: optionalString(
      'The header in which the upstream gets the access token; `authorization` with `Bearer` before it. What the client sent there is removed.',
      claim,
    ),
    idTokenHeader: optionalString('The header in which the upstream gets the ID token.', claim),
  },
  [
    'Logs users in with OpenID Connect: the code flow with PKCE (S256), `state` and `nonce`. The state of each pending login is in an encrypted cookie for ten minutes, so a response of the provider is useless in another browser. A response that is repeated, late or without that cookie restarts the login. A sixth pending login in one browser discards the older ones. The ID token is checked by the keys of the provider, its issuer, audience, times, nonce and `at_hash`; an `iat` more than 10 minutes ahead is refused, whatever `clockSkew` says; `iss` of the response (RFC 9207) where the provider sends it.',
    'The session is an encrypted cookie (AES-256-GCM), in up to three parts: HttpOnly, SameSite=Lax, and with TLS Secure and of this host alone. It can be neither read nor changed, and what it says is what was so at the login or the last refresh. A login always makes a new one. The upstream does not see these cookies.',
    'Uses of this policy with the same `issuer`, `clientId`, `session.cookie` and secrets share sessions. Where a route needs another login than others, by its `parameters` or `scopes`, give it another `session.cookie`.',
    'After the login the browser goes to the page that it had asked for, on the site of `redirectUri` and nowhere else.',
    'A session ends after `session.lifetime`, and `session.idleTimeout` after the last request; when its refresh token is refused; by `logout`; and by the policy `oidc-backchannel-logout` on another route, within 5 s. Without `state` other gateways do not hear of that.',
    'A login that cannot be finished is 400 `GW_LOGIN_FAILED`; a provider that does not answer, or with what cannot be right, such as an ID token that is not valid, is 503 `GW_AUTH_UNAVAILABLE`, because it is the provider that has to mend it. `error.reason` in the traffic log says why.',
  ],
)

/** The configuration of `oidc`, derived from its schema. */
export type OidcConfig = Static<typeof oidcSchema>
