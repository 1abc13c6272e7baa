/** Error codes of `saml`. */
export const SAML_ERRORS = {
  GW_TOKEN_REPLAYED: {
    status: 401,
    title: 'Assertion already used',
    when: 'A one-time `saml` assertion was sent again.',
    remedy: 'Get a new assertion.',
  },
} as const
