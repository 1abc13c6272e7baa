import type { Static } from '@sinclair/typebox'
import { optionalDuration, policyOptions, string } from '../../shared/options.js'
import { providerKeys } from '../oidc/schema.js'

/** Default of `rememberFor`. */
export const DEFAULT_REMEMBER = '1d'

/** The configuration of `oidc-backchannel-logout`. */
export const backchannelLogoutSchema = policyOptions(
  {
    ...providerKeys,
    clientId: string('The id of the client, as `oidc` has it.', { minLength: 1, maxLength: 1024 }),
    rememberFor: optionalDuration(
      'How long it is remembered that a session has ended: the `session.lifetime` of `oidc`, or longer; up to 30d.',
      DEFAULT_REMEMBER,
    ),
  },
  [
    'Answers all requests of its route: a POST with a form of one `logout_token` (OpenID Connect Back-Channel Logout 1.0). Give the address of the route to the provider. The sessions of `oidc` with the same `issuer` and `clientId` end within 5 s: those of the `sid` in the token, or all of its `sub`.',
    'The token is checked by the keys of the provider, its issuer, audience and times; its type is `logout+jwt` or `JWT`; it needs `jti`, `iat` and the event, may have no `nonce`, is at most ten minutes old, and is taken once. What is not right is 400 `GW_LOGOUT_TOKEN`; a store that does not answer is 503, so that the provider tries again.',
  ],
)

/** The configuration of `oidc-backchannel-logout`, derived from its schema. */
export type BackchannelLogoutConfig = Static<typeof backchannelLogoutSchema>
