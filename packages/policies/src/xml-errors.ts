/** Error codes of `saml`. They are here, because logs are read without the package of the XML policies. */
export const SAML_ERRORS = {
  GW_TOKEN_REPLAYED: {
    status: 401,
    title: 'Assertion already used',
    when: 'A one-time `saml` assertion was sent again.',
    remedy: 'Get a new assertion.',
  },
} as const
/** Error codes of `ws-security`. */
export const WS_SECURITY_ERRORS = {
  GW_WSS_FAILED: {
    status: 401,
    title: 'WS-Security check failed',
    when: 'The WS-Security header of a SOAP message is missing or invalid. SOAP clients receive the standard fault code.',
    remedy:
      'Check user, signature, timestamps and clocks. `error.reason` in the traffic log names the problem.',
  },
} as const
