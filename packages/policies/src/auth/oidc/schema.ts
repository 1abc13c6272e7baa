import { Type } from '@sinclair/typebox'
import type { Configured } from '@sluice/core'
import { clientAuthKeys } from '../../identity/oauth/client-auth.js'
import { sessionOptions } from '../../identity/session/session-options.js'
import { providerOptions } from '../../identity/token/provider-tokens.js'
import { consumerOptions } from '../../identity/token/token-options.js'
import * as field from '../../shared/options/options.js'

const place = '^/[!-~]*$'

/** Schema of the `oidc` configuration. */
export const oidcSchema = field.policyOptions(
  {
    ...providerOptions,
    ...clientAuthKeys,
    redirectUri: field.text(
      2048,
      'Redirect URI registered at the provider, such as `https://app.example.com/oauth2/callback`. The route must match its path. Its origin is the origin of the site. HTTP is allowed only for loopback.',
    ),
    scopes: field.optionalList(
      field.text(256, 'Scope.', { pattern: '^[!#-\\[\\]-~]+$' }),
      'Requested scopes; `openid` is always included. Many providers issue refresh tokens only for `offline_access`.',
      { default: ['openid', 'profile', 'email'], maxItems: 64 },
    ),
    parameters: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-z_]{1,64}$' }), field.text(1024, 'Value of the parameter.'), {
        description: 'Additional login parameters, such as `prompt`, `acr_values` or `ui_locales`.',
      }),
    ),
    userInfo: field.optionalFlag(
      false,
      'Calls the userinfo endpoint at each login, and adds its claims to those of the ID token.',
    ),
    unauthenticated: field.optionalOneOf(
      ['auto', 'redirect', '401', 'pass'],
      'Handling of requests without a session. `auto` redirects page loads to the login and answers the rest with 401. `redirect` redirects all GET and HEAD requests. `401` refuses all. `pass` forwards them without a consumer.',
      'auto',
    ),
    session: sessionOptions,
    refreshBefore: field.optionalDuration(
      'Time before the access token expires at which it is refreshed. Needs a refresh token.',
      '60s',
    ),
    staleIfError: field.optionalDuration(
      'Time a session stays usable after its access token has expired while the provider is unavailable. After that, requests get 503 `GW_AUTH_UNAVAILABLE`.',
      '10m',
    ),
    logout: field.optionalClosed('Logout at the gateway and at the provider.', {
      path: field.string(
        'Logout path, for POST and GET. Accepted only from pages of the same site, so that other sites cannot log users out. A GET must be a page load.',
        { maxLength: 1024, pattern: place },
      ),
      returnTo: field.optionalString(
        'Path the browser is redirected to after the logout. Register this URL at the provider.',
        { maxLength: 1024, pattern: place, default: '/' },
      ),
      provider: field.optionalFlag(
        true,
        'Also ends the session at the provider, if it has an end-session endpoint.',
      ),
    }),
    onStoreDown: field.optionalOneOf(
      ['open', 'closed'],
      'Handling of sessions while the store of ended sessions is unavailable. `open` accepts them, `closed` answers 503 `GW_AUTH_UNAVAILABLE`.',
      'open',
    ),
    consumerClaim: field.optionalText(256, 'Claim with the consumer id.', { default: 'sub' }),
    ...consumerOptions,
    accessTokenHeader: field.optionalText(
      256,
      'Header that passes the access token to the upstream. `authorization` gets the prefix `Bearer`. A client header with this name is removed.',
    ),
    idTokenHeader: field.optionalText(256, 'Header that passes the ID token to the upstream.'),
  },
  [
    'Logs users in with OpenID Connect: the code flow with PKCE (S256), `state` and `nonce`. The state of each pending login is in an encrypted cookie for ten minutes, so a response of the provider is useless in another browser. A response that is repeated, late or without that cookie restarts the login. A sixth pending login in one browser discards the older ones. The policy checks the signature, issuer, audience, times, nonce and `at_hash` of the ID token. An `iat` more than 10 minutes ahead is refused, whatever `clockSkew` says. If the provider sends `iss` in the response (RFC 9207), it is checked, too.',
    'The session is an encrypted cookie (AES-256-GCM) in up to three parts. It is HttpOnly and SameSite=Lax, and with TLS also Secure and limited to this host. It cannot be read or changed without the secrets. Its claims are those of the login or the last refresh. Each login creates a new session. The upstream does not see these cookies.',
    'Uses of this policy with the same `issuer`, `clientId`, `session.cookie` and secrets share sessions. If a route needs other `parameters` or `scopes` for its login, give it another `session.cookie`.',
    'After the login, the browser returns to the requested page, always on the site of `redirectUri`.',
    'A session ends after `session.lifetime`, or `session.idleTimeout` after its last request. It also ends if its refresh token is refused, by `logout`, and within 5 s by an `oidc-backchannel-logout` policy on another route. Without `state`, other gateways do not learn of that.',
    'A login that cannot be completed gets 400 `GW_LOGIN_FAILED`. If the provider is unavailable or its response is invalid, such as a bad ID token, the response is 503 `GW_AUTH_UNAVAILABLE`. `error.reason` in the traffic log gives the reason.',
  ],
)

/** Configuration of `oidc`, derived from its schema. */
export type OidcConfig = Configured<typeof oidcSchema>
