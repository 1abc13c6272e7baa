/** Error codes of `oidc-backchannel-logout`. */
export const OIDC_BACKCHANNEL_LOGOUT_ERRORS = {
  GW_LOGOUT_TOKEN: {
    status: 400,
    title: 'Invalid logout token',
    when: 'The token sent to `oidc-backchannel-logout` is not a logout token of the provider, is too old, or was used before.',
    remedy: 'Check the issuer and client id of `oidc-backchannel-logout`, and the clocks.',
  },
} as const
