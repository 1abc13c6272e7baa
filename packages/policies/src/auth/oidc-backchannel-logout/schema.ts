import type { Configured } from '@sluice/core'
import { providerOptions } from '../../identity/token/provider-tokens.js'
import { optionalDuration, policyOptions, text } from '../../shared/options/options.js'

/** Schema of the `oidc-backchannel-logout` configuration. */
export const backchannelLogoutSchema = policyOptions(
  {
    ...providerOptions,
    clientId: text(1024, 'Client id, the same as in the `oidc` policy.'),
    rememberFor: optionalDuration(
      'Time an ended session is remembered. Use the `session.lifetime` of `oidc` or longer, at most 30d.',
      '1d',
    ),
  },
  [
    'Answers every request of its route. It expects a POST with a form that has one `logout_token` (OpenID Connect Back-Channel Logout 1.0). Register the URL of the route at the provider. Sessions of `oidc` with the same `issuer` and `clientId` end within 5 s: the session with the `sid` of the token, or all sessions of its `sub`.',
    'The policy checks the signature, issuer, audience, times and type (`logout+jwt` or `JWT`) of the token. The token needs `jti`, `iat` and the logout event, and must not have a `nonce`. It is accepted once, for up to ten minutes. An invalid token gets 400 `GW_LOGOUT_TOKEN`. If the store is unavailable, the response is 503, so that the provider retries.',
  ],
)

/** Configuration of `oidc-backchannel-logout`, derived from its schema. */
export type BackchannelLogoutConfig = Configured<typeof backchannelLogoutSchema>
