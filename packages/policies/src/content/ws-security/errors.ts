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
