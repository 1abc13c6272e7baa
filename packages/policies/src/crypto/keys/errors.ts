/** Error codes of policies that check signatures. */
export const KEYS_ERRORS = {
  GW_SIGNATURE_MISSING: {
    status: 401,
    title: 'Missing signature',
    when: 'The message must be signed.',
    remedy: 'Sign the request as the policy describes.',
  },
  GW_SIGNATURE_INVALID: {
    status: 401,
    title: 'Invalid signature',
    when: 'The signature of the message is wrong, too old, or was used before.',
    remedy:
      'Check key, covered fields and clock of the signer. `error.reason` in the traffic log names the problem.',
  },
} as const
